"""Beginners' mistakes in chapter 07."""

from __future__ import annotations

from torch import fx
from torchvision.models.feature_extraction import create_feature_extractor

from tests.exercises.mistakes import UNSTICKS, mistake


@mistake("backbone_c4_c5", "names of one network's nodes", UNSTICKS)
def node_names(model):
    return create_feature_extractor(model, {"layer3.5.relu_2": "C4", "layer4.2.relu_2": "C5"})


@mistake("backbone_c4_c5", "a list in place of names", UNSTICKS)
def a_list(model):
    return create_feature_extractor(model, ["layer3", "layer4"])


@mistake("backbone_c4_c5", "one stage too early", UNSTICKS)
def too_early(model):
    return create_feature_extractor(model, {"layer2": "C4", "layer3": "C5"})


@mistake("extract", "a dictionary of nodes, nothing cut away", UNSTICKS)
def nothing_cut(model, wanted):
    gm = fx.symbolic_trace(model)
    nodes = {n.name: n for n in gm.graph.nodes}
    (output,) = gm.graph.find_nodes(op="output")
    output.args = ({key: nodes[name] for name, key in wanted.items()},)
    gm.recompile()
    return gm


@mistake("extract", "a second output", UNSTICKS)
def second_output(model, wanted):
    gm = fx.symbolic_trace(model)
    nodes = {n.name: n for n in gm.graph.nodes if n.name in wanted}
    gm.graph.output({key: nodes.get(name) for name, key in wanted.items()})
    gm.recompile()
    return gm
