"""Beginners' mistakes in chapter 05b."""

from __future__ import annotations

import operator

import torch
from torch import fx, nn
from torch.fx.proxy import GraphAppendingTracer

from tests.exercises.mistakes import UNSTICKS, mistake


@mistake("inline", "nothing is kept as a leaf", UNSTICKS)
def traced_through(model, target):
    return fx.symbolic_trace(model)


@mistake("inline", "an unknown target gives None", UNSTICKS)
def unknown(model, target):
    if target not in dict(model.named_modules()):
        return None
    return fx.symbolic_trace(model)


@mistake("derivative", "the product rule without its second half", UNSTICKS)
def half_product(fn):
    graph = fx.Graph()
    tracer = GraphAppendingTracer(graph)
    d = {}
    values = {}
    for node in fx.symbolic_trace(fn).graph.nodes:
        if node.op == "placeholder":
            values[node] = fx.Proxy(graph.placeholder(node.target), tracer)
            d[node] = 1.0
        elif node.op == "output":
            graph.output(d[node.args[0]].node)
        else:
            values[node] = node.target(*(values.get(a, a) for a in node.args))
            a, *b = node.args
            if node.target in (operator.mul, torch.mul):
                d[node] = values[a] * d.get(b[0], 0.0)
            elif node.target is torch.sin:
                d[node] = torch.cos(values[a]) * d[a]
    return fx.GraphModule(nn.Module(), graph)
