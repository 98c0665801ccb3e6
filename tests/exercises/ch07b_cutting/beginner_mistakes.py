"""Beginners' mistakes in chapter 07b."""

from __future__ import annotations

import copy

import torch
from torch import fx, nn

from tests.exercises.mistakes import SHOWS_PLACE, UNSTICKS, mistake


@mistake("node_paths", "the target's parent", UNSTICKS)
def parents(model):
    nodes = fx.symbolic_trace(model).graph.nodes
    return {n.name: str(n.target).rpartition(".")[0] for n in nodes if n.op != "output"}


class _Shared(fx.Tracer):
    paths: dict[str, str] = {}

    def create_node(self, kind, *args, **kwargs):
        node = super().create_node(kind, *args, **kwargs)
        if kind != "output":
            self.paths[node.name] = ""
        return node


@mistake("node_paths", "a dictionary of the class", UNSTICKS)
def class_paths(model):
    tracer = _Shared()
    tracer.trace(model)
    return tracer.paths


def _cut(model, name, crossing):
    gm = fx.symbolic_trace(model)
    nodes = list(gm.graph.nodes)
    place = next(i for i, n in enumerate(nodes) if n.name == name)
    head, tail, env = fx.Graph(), fx.Graph(), {}
    for node in nodes[: place + 1]:
        env[node] = head.node_copy(node, env.__getitem__)
    values = crossing(nodes, place)
    head.output(tuple(env[v] for v in values))
    inside = {v: tail.placeholder(v.name) for v in values}
    for node in nodes[place + 1 :]:
        inside[node] = tail.node_copy(node, inside.__getitem__)
    return fx.GraphModule(gm, head), fx.GraphModule(gm, tail)


@mistake("split_at", "only the named value crosses", UNSTICKS)
def only_named(model, name):
    return _cut(model, name, lambda nodes, place: [nodes[place]])


@mistake("split_at", "everything crosses", UNSTICKS)
def everything(model, name):
    return _cut(model, name, lambda nodes, place: nodes[: place + 1])


@mistake("split_at", "the tail is a copy of the model", UNSTICKS)
def whole_tail(model, name):
    gm = fx.symbolic_trace(model)
    return gm, copy.deepcopy(gm)


@mistake("split_at", "one module comes back", UNSTICKS)
def one_module(model, name):
    return nn.Sequential(fx.symbolic_trace(model))


@mistake(
    "split_at",
    "an unknown name is not looked for",
    SHOWS_PLACE,
    but="the value that does not cross comes first; the exception is below",
)
def unknown(model, name):
    nodes = {n.name: n for n in fx.symbolic_trace(model).graph.nodes}
    nodes[name]
    return _cut(model, name, lambda nodes, place: [nodes[place], torch.relu][:1])
