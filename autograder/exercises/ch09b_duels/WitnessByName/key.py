"""The answer key of `WitnessByName`: right passes, and a suspect that relies on names."""

from __future__ import annotations

import torch
from torch import fx
from torch.nn import functional as F

from autograder import suspects
from autograder.authoring.key import Fight, duel_key
from autograder.exercises.ch09b_duels.right_passes import argument, exchange

_RELUS = (torch.relu, F.relu)


def _relus(gm: fx.GraphModule) -> list[fx.Node]:
    return [n for n in gm.graph.nodes if n.op == "call_function" and n.target in _RELUS]


def by_target(gm: fx.GraphModule) -> fx.GraphModule:
    """Replace each call by GELU, in place or not."""
    for node in _relus(gm):
        node.target, node.args, node.kwargs = F.gelu, (argument(node, 0, "input"),), {}
    return gm


def keeping_effects(gm: fx.GraphModule) -> fx.GraphModule:
    """Replace each call by a new one that works in place if the old one did."""
    for node in _relus(gm):
        given = argument(node, 0, "input")
        with gm.graph.inserting_before(node):
            new = gm.graph.call_function(F.gelu, (given,))
            if argument(node, 1, "inplace"):
                new = gm.graph.call_method("copy_", (given, new))
        exchange(node, new)
    return gm


KEY = duel_key(
    Fight(
        suspect=suspects.by_name,
        name="by_name",
        task="make GELU of the calls of `torch.relu` and `F.relu`, and of no others",
        right=(by_target, keeping_effects),
        keeps_meaning=False,
        limit=2,
        record=1,
        try_this="Print the names of the nodes of your trace. Which name makes the suspect act "
        "where it should not? And do your `inputs` show it?",
    )
)
