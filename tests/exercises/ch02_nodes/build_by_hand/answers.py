"""Answers to `build_by_hand`."""

from __future__ import annotations

import copy
import operator

import torch
import torch.nn.functional as F
from torch import fx, nn

from tests.exercises import right, wrong


def built(proj, shift, *, relu=torch.relu, total=(-1,), key="shift"):
    """The module of the exercise; each option replaces one part."""
    graph = fx.Graph()
    x, scale = graph.placeholder("x"), graph.placeholder("scale", default_value=2.0)
    hidden = graph.call_function(operator.mul, (graph.call_module("proj", (x,)), scale))
    hidden = graph.call_function(operator.add, (hidden, graph.get_attr(key)))
    hidden = graph.call_function(relu, (hidden,))
    graph.output(graph.call_method("sum", (hidden, *total)))
    return fx.GraphModule({"proj": proj, key: shift}, graph)


@right("a dictionary as root")
def _(proj, shift):
    return built(proj, shift)


@right("a module as root, other spellings, keywords")
def _(proj, shift):
    class Root(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = proj
            self.register_buffer("shift", shift, persistent=False)

    graph = fx.Graph()
    shifted = graph.get_attr("shift")
    x, scale = graph.placeholder("x"), graph.placeholder("scale", float, 2.0)
    hidden = graph.call_module("linear", kwargs={"input": x})
    hidden = graph.call_function(torch.mul, kwargs={"input": hidden, "other": scale})
    hidden = graph.call_function(torch.add, (shifted, hidden), {"alpha": 1})
    hidden = graph.call_function(F.relu, (hidden,), {"inplace": True})
    graph.output(graph.call_method("sum", (hidden, (-1,))))
    return fx.GraphModule(Root(), graph, class_name="Built")


@right("create_node, a nested name for the module")
def _(proj, shift):
    g = fx.Graph()
    x = g.create_node("placeholder", "x")
    scale = g.create_node("placeholder", "scale", args=(2.0,))
    inner = g.create_node("call_module", "body.layers.0", (x,), name="first")
    scaled = g.create_node("call_function", operator.mul, (scale, inner))
    s = g.create_node("get_attr", "shift", name="moved_by")
    moved = g.create_node("call_function", operator.add, (s, scaled))
    active = g.create_node("call_function", F.relu, (moved, False))
    out = g.create_node("call_method", "sum", (active,), {"dim": (-1,), "keepdim": False})
    g.create_node("output", "output", (out,))
    g.lint()
    return fx.GraphModule({"body.layers.0": proj, "shift": shift}, g)


@right("Proxies on nodes made by hand")
def _(proj, shift):
    graph = fx.Graph()
    tracer = fx.proxy.GraphAppendingTracer(graph)
    x = fx.Proxy(graph.placeholder("x"), tracer)
    scale = fx.Proxy(graph.placeholder("scale", default_value=2.0), tracer)
    hidden = fx.Proxy(graph.call_module("proj", (x.node,)), tracer)
    result = torch.relu(hidden * scale + fx.Proxy(graph.get_attr("shift"), tracer)).sum(dim=-1)
    graph.output(result.node)
    return fx.GraphModule({"proj": proj, "shift": shift}, graph)


@right("inserted from the back", debrief=True)
def _(proj, shift):
    root = nn.Module()
    root.add_module("p", proj)
    root.register_buffer("shift", shift.detach().clone())
    gm = fx.GraphModule(root, fx.Graph())
    gm.p, g = proj, gm.graph
    gm.register_buffer("shift", root.shift)
    out = g.output(None)
    with g.inserting_before(out):
        x = g.placeholder("x")
        scale = g.placeholder("scale", default_value=2.0)
        total = g.call_method("sum", (x,), {"dim": -1})
        with g.inserting_before(total):
            b = g.call_function(operator.add, (scale, g.get_attr("shift")))
            a = g.call_function(torch.multiply, (g.call_module("p", (x,)), scale))
            b.prepend(a)
            a.prepend(a.args[0])
            b.args = (a, b.args[1])
            total.args = (g.call_function(torch.relu, (b,)),)
    out.args = (total,)
    gm.recompile()
    return gm


@wrong("traced", "forbidden", clause="no-tracing")
def _(proj, shift):
    class Whole(nn.Module):
        def __init__(self):
            super().__init__()
            self.proj = proj
            self.register_buffer("shift", shift)

        def forward(self, x, scale=2.0):
            return torch.relu(self.proj(x) * scale + self.shift).sum(dim=-1)

    return fx.symbolic_trace(Whole())


@wrong("a copy of the module", "copied-module", clause="given-module")
def _(proj, shift):
    return built(copy.deepcopy(proj), shift)


@wrong("the shift as a parameter", "not-a-buffer", clause="buffer")
def _(proj, shift):
    return built(proj, nn.Parameter(shift))


@wrong("a buffer of another name", "not-a-buffer", clause="buffer-name")
def _(proj, shift):
    return built(proj, shift, key="offset")


@wrong("the shift as an argument", "raw-tensor", clause="common.no-raw-tensor")
def _(proj, shift):
    gm = built(proj, shift)
    for node in gm.graph.nodes:
        if node.target is operator.add:
            node.args = (node.args[0], shift)
    gm.recompile()
    return gm


@wrong("no default for the scale", "lost-signature", clause="signature")
def _(proj, shift):
    gm = built(proj, shift)
    list(gm.graph.nodes)[1].args = ()
    gm.recompile()
    return gm


@wrong("another name for the input", "lost-signature", clause="signature")
def _(proj, shift):
    gm = built(proj, shift)
    next(iter(gm.graph.nodes)).target = "input"
    gm.recompile()
    return gm


@wrong("sum as a function", "wrong-nodes", clause="opcodes")
def _(proj, shift):
    gm = built(proj, shift)
    *_, total, output = gm.graph.nodes
    with gm.graph.inserting_before(output):
        output.args = (gm.graph.call_function(torch.sum, total.args),)
    gm.graph.erase_node(total)
    gm.recompile()
    return gm


@wrong("sum over dim 1", "wrong-result", clause="value")
def _(proj, shift):
    return built(proj, shift, total=(1,))


@wrong("a node too many", "wrong-nodes", clause="nine")
def _(proj, shift):
    gm = built(proj, shift)
    *_, total, output = gm.graph.nodes
    with gm.graph.inserting_before(output):
        gm.graph.call_function(torch.neg, (total,))
    gm.recompile()
    return gm


@wrong(
    "finished after the module was made, and not recompiled",
    "stale-code",
    clause="common.recompiled",
)
def _(proj, shift):
    gm = built(proj, shift, total=())
    list(gm.graph.nodes)[-2].kwargs = {"dim": -1}
    return gm


@wrong("the graph instead of a module", "not-a-graph-module", clause="common.wrong-kind")
def _(proj, shift):
    return built(proj, shift).graph


@wrong("the layer is put into eval mode", "caller-changed", clause="unchanged")
def _(proj, shift):
    return built(proj, shift).eval()


@wrong("the shift is reshaped in place", "caller-changed", clause="unchanged")
def _(proj, shift):
    return built(proj, shift.unsqueeze_(0))


GRAPH = built(nn.Identity(), torch.zeros(())).graph


@wrong("one graph for all that is built", "wrong-owner", clause="common.own-result")
def one_graph(proj, shift):
    return fx.GraphModule({"proj": proj, "shift": shift}, GRAPH)


@wrong("a lambda for the relu", "unknown-target", clause="opcodes")
def _(proj, shift):
    def relu(value):
        return torch.relu(value)

    return built(proj, shift, relu=relu)


DECIDES_NOTHING = [
    (
        r"value\.graph_module\.modules\[\]\.params\..*\.origin",
        "`proj` is the module that was given: the module's own origin says so",
    ),
]
"""Places in an outcome that decide no points, with the reason."""


ASKS_FOR_ORIGINS = "parts of the result must be the very parts of what was given"
