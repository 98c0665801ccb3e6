"""Sound graph modules that look suspicious: `wellformed` must report nothing for them."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import fx, nn

from autograder.models.broken import Block

SOUND: dict[str, Callable[[], fx.GraphModule]] = {}


def sound(name: str) -> Callable[[Callable[[], fx.GraphModule]], Callable[[], fx.GraphModule]]:
    """Put a sound module into the collection."""

    def register(make: Callable[[], fx.GraphModule]) -> Callable[[], fx.GraphModule]:
        SOUND[name] = make
        return make

    return register


def node_of(gm: fx.GraphModule, name: str) -> fx.Node:
    """The node of that name."""
    return next(node for node in gm.graph.nodes if node.name == name)


@sound("a fresh trace")
def _():
    return fx.symbolic_trace(Block())


@sound("an edit, and a recompile")
def _():
    gm = fx.symbolic_trace(Block())
    node_of(gm, "cat").kwargs = {"dim": -1}
    gm.recompile()
    return gm


@sound("an edit that was taken back")
def _():
    gm = fx.symbolic_trace(Block())
    node = node_of(gm, "clamp")
    node.target = "neg"
    node.target = "clamp"
    return gm


@sound("a node nobody reads, and a parameter nobody reads")
def _():
    def forward(x, unread, *rest):
        torch.exp(x)
        return x + x

    return fx.symbolic_trace(forward)


@sound("one module under two names, both called")
def _():
    root = nn.Module()
    root.first = root.second = nn.Linear(3, 3)
    graph = fx.Graph()
    value = graph.call_module("first", (graph.placeholder("x"),))
    value = graph.call_module("second", (value,))
    weight = graph.get_attr("second.weight")
    graph.output(graph.call_function(torch.matmul, (value, weight)))
    return fx.GraphModule(root, graph)


@sound("a result without tensors")
def _():
    return fx.symbolic_trace(lambda x: {"none": None, "numbers": (1, 2.5), "text": "a.b"})


@sound("a dictionary as an argument of forward")
def _():
    return fx.symbolic_trace(lambda d: {"out": d["a"] + 1}, concrete_args={"d": {"a": fx.PH}})


@sound("a flag fixed while tracing")
def _():
    def forward(x, flag):
        return x + 1 if flag else x

    return fx.symbolic_trace(forward, concrete_args={"flag": True})


@sound("a placeholder in the middle")
def _():
    gm = fx.symbolic_trace(Block())
    with gm.graph.inserting_before(node_of(gm, "mul_1")):
        late = gm.graph.placeholder("late", default_value=None)
    node_of(gm, "clamp").kwargs = {"min": 0.5}
    node_of(gm, "output").args = ([node_of(gm, "mul_1"), late],)
    gm.recompile()
    return gm


@sound("a tensor that is a plain attribute")
def _():
    gm = fx.symbolic_trace(Block())
    gm.plain = torch.ones(3)
    node_of(gm, "offset").target = "plain"
    gm.recompile()
    return gm


@sound("a submodule read by get_attr")
def _():
    gm = fx.symbolic_trace(Block())
    with gm.graph.inserting_before(node_of(gm, "output")):
        gm.graph.get_attr("layers.1")
    gm.recompile()
    return gm


@sound("tensors in node.meta")
def _():
    gm = fx.symbolic_trace(Block())
    for node in gm.graph.nodes:
        node.meta["val"] = [torch.ones(1), {"of": fx.Graph().placeholder("x")}]
    return gm


@sound("a graph module called within a graph")
def _():
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


@sound("a graph copied with graph_copy")
def _():
    old = fx.symbolic_trace(Block())
    graph = fx.Graph()
    graph.output(graph.graph_copy(old.graph, {}))
    return fx.GraphModule(old, graph)


@sound("a copy.deepcopy of a graph module")
def _():
    return copy.deepcopy(fx.symbolic_trace(Block()))


@sound("nodes erased properly")
def _():
    gm = fx.symbolic_trace(Block())
    node_of(gm, "output").args = (node_of(gm, "getitem"),)
    for name in ("mul_1", "clamp"):
        gm.graph.erase_node(node_of(gm, name))
    gm.recompile()
    return gm


@sound("a plain attribute with a dot in its name")
def _():
    gm = fx.symbolic_trace(Block())
    gm.__dict__["written.by"] = "hand"  # in none of the three dictionaries of a module
    return gm


@sound("parameters and buffers that are None")
def _():
    class Bare(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(3, affine=False, track_running_stats=False)

        def forward(self, x):
            return self.norm(x)

    return fx.symbolic_trace(Bare())


@sound("constants of many kinds among the arguments")
def _():
    gm = fx.symbolic_trace(Block())
    with gm.graph.inserting_before(node_of(gm, "output")):
        extra = (torch.float32, torch.device("cpu"), torch.Size([2]), ..., None, "self.layers.0")
        gm.graph.call_function(print, extra, {"end": ""})
    gm.recompile()
    return gm
