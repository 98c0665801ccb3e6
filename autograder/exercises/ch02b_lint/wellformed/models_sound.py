"""Graph modules without faults that look suspicious, for `wellformed`."""

# Function names describe the module.
# ruff: noqa: D103

from __future__ import annotations

import torch
from torch import fx, nn

from autograder.exercises.ch02b_lint.wellformed.models import Block, node_of


def fresh_trace() -> fx.GraphModule:
    return fx.symbolic_trace(Block())


def edit_taken_back() -> fx.GraphModule:
    gm = fx.symbolic_trace(Block())
    node = node_of(gm, "clamp")
    node.target = "neg"
    node.target = "clamp"
    return gm


def two_names() -> fx.GraphModule:
    root = nn.Module()
    root.first = root.second = nn.Linear(3, 3)
    graph = fx.Graph()
    value = graph.call_module("first", (graph.placeholder("x"),))
    value = graph.call_module("second", (value,))
    weight = graph.get_attr("second.weight")
    graph.output(graph.call_function(torch.matmul, (value, weight)))
    return fx.GraphModule(root, graph)


def late_placeholder() -> fx.GraphModule:
    gm = fx.symbolic_trace(Block())
    with gm.graph.inserting_before(node_of(gm, "mul_1")):
        late = gm.graph.placeholder("late", default_value=None)
    node_of(gm, "clamp").kwargs = {"min": 0.5}
    node_of(gm, "output").args = ([node_of(gm, "mul_1"), late],)
    gm.recompile()
    return gm


def tensors_in_meta() -> fx.GraphModule:
    gm = fx.symbolic_trace(Block())
    for node in gm.graph.nodes:
        node.meta["val"] = [torch.ones(1), {"of": fx.Graph().placeholder("x")}]
    return gm


def graph_module_within() -> fx.GraphModule:
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = fx.symbolic_trace(Block())

        def forward(self, x):
            return self.inner(x).neg()

    class Whole(fx.Tracer):
        def is_leaf_module(self, module, qualified_name):
            return True

    outer = Outer()
    return fx.GraphModule(outer, Whole().trace(outer))


def stale_within() -> fx.GraphModule:
    """`gm.code` is the outer graph's code; the inner module was edited without a recompile."""
    gm = graph_module_within()
    node_of(gm.inner, "cat").kwargs = {"dim": -1}
    return gm


def plain_dotted_attribute() -> fx.GraphModule:
    gm = fx.symbolic_trace(Block())
    gm.__dict__["written.by"] = "hand"  # in none of the module's three dictionaries
    return gm


def none_read() -> fx.GraphModule:
    gm = fx.symbolic_trace(Block())
    gm.register_parameter("nothing", None)
    gm.register_buffer("no_buffer", None)
    with gm.graph.inserting_before(node_of(gm, "output")):
        for name in ("nothing", "no_buffer"):
            gm.graph.create_node("get_attr", name)
    gm.recompile()
    return gm


def constants() -> fx.GraphModule:
    gm = fx.symbolic_trace(Block())
    with gm.graph.inserting_before(node_of(gm, "output")):
        extra = (torch.float32, torch.device("cpu"), torch.Size([2]), ..., None, "self.layers.0")
        gm.graph.call_function(print, extra, {"end": ""})
    gm.recompile()
    return gm


def input_called_output() -> fx.GraphModule:
    def doubled(output):
        return torch.relu(output) * 2

    return fx.symbolic_trace(doubled)
