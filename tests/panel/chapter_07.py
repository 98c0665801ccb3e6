"""Beginners' mistakes in chapter 07."""

from __future__ import annotations

import copy

import torch
from torch import fx, nn
from torchvision.models.feature_extraction import create_feature_extractor

from tests.panel import mistake


@mistake("backbone_c4_c5", "names of one network's nodes")
def node_names(model):
    return create_feature_extractor(model, {"layer3.5.relu_2": "C4", "layer4.2.relu_2": "C5"})


@mistake("backbone_c4_c5", "a list in place of names")
def a_list(model):
    return create_feature_extractor(model, ["layer3", "layer4"])


@mistake("backbone_c4_c5", "one stage too early")
def too_early(model):
    return create_feature_extractor(model, {"layer2": "C4", "layer3": "C5"})


@mistake("node_paths", "the target's parent")
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


@mistake("node_paths", "a dictionary of the class")
def class_paths(model):
    tracer = _Shared()
    tracer.trace(model)
    return tracer.paths


@mistake("extract", "a dictionary of nodes, nothing cut away")
def nothing_cut(model, wanted):
    gm = fx.symbolic_trace(model)
    nodes = {n.name: n for n in gm.graph.nodes}
    (output,) = gm.graph.find_nodes(op="output")
    output.args = ({key: nodes[name] for name, key in wanted.items()},)
    gm.recompile()
    return gm


@mistake("extract", "a second output")
def second_output(model, wanted):
    gm = fx.symbolic_trace(model)
    nodes = {n.name: n for n in gm.graph.nodes if n.name in wanted}
    gm.graph.output({key: nodes.get(name) for name, key in wanted.items()})
    gm.recompile()
    return gm


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


@mistake("split_at", "only the named value crosses")
def only_named(model, name):
    return _cut(model, name, lambda nodes, place: [nodes[place]])


@mistake("split_at", "everything crosses")
def everything(model, name):
    return _cut(model, name, lambda nodes, place: nodes[: place + 1])


@mistake("split_at", "the tail is a copy of the model")
def whole_tail(model, name):
    gm = fx.symbolic_trace(model)
    return gm, copy.deepcopy(gm)


@mistake("split_at", "one module comes back")
def one_module(model, name):
    return nn.Sequential(fx.symbolic_trace(model))


@mistake("split_at", "an unknown name is not looked for")
def unknown(model, name):
    nodes = {n.name: n for n in fx.symbolic_trace(model).graph.nodes}
    nodes[name]
    return _cut(model, name, lambda nodes, place: [nodes[place], torch.relu][:1])
