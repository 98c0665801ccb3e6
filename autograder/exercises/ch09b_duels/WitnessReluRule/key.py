"""The answer key of `WitnessReluRule`: right rules for ReLU, and one with a gap."""

from __future__ import annotations

import torch
from torch import fx

from autograder import suspects
from autograder.authoring.key import Fight, duel_key
from autograder.exercises.ch09b_duels.right_passes import argument, exchange


def _relus(gm: fx.GraphModule) -> list[fx.Node]:
    return [n for n in gm.graph.nodes if n.op == "call_function" and n.target is torch.relu]


def by_clamp(gm: fx.GraphModule) -> fx.GraphModule:
    """Replace ReLU by `clamp` at zero."""
    for node in _relus(gm):
        node.args, node.kwargs = (argument(node, 0, "input"),), {"min": 0}
        node.target = torch.clamp
    return gm


def by_maximum(gm: fx.GraphModule) -> fx.GraphModule:
    """Replace ReLU by the maximum of the tensor and zeros."""
    for node in _relus(gm):
        x = argument(node, 0, "input")
        with gm.graph.inserting_before(node):
            zeros = gm.graph.call_function(torch.zeros_like, (x,))
            larger = gm.graph.call_function(torch.maximum, (x, zeros))
        exchange(node, larger)
    return gm


KEY = duel_key(
    Fight(
        suspect=suspects.relu_rule,
        name="relu_rule",
        task="write `torch.relu` in other operations",
        right=(by_clamp, by_maximum),
        keeps_meaning=True,
        limit=2,
        record=1,
        try_this="Compare `torch.relu(x)` and `(x > 0) * x` on numbers that are not ordinary.",
    ),
    nothing_outside="what `torch.relu` gives is clear for every number",
)
