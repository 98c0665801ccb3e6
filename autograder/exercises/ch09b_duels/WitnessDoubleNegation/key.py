"""The answer key of `WitnessDoubleNegation`: safe removals, and a pattern that is not."""

from __future__ import annotations

import torch
from torch import fx

from autograder import suspects
from autograder.authoring.key import Fight, duel_key
from autograder.exercises.ch09b_duels.right_passes import all_pure, argument, as_it_is, exchange


def where_nothing_is_changed(gm: fx.GraphModule) -> fx.GraphModule:
    """Remove the negations only if no call works in place."""
    if not all_pure(gm):
        return gm
    for node in list(gm.graph.nodes):
        inner = argument(node, 0, "input") if node.target is torch.neg else None
        if isinstance(inner, fx.Node) and inner.target is torch.neg:
            exchange(node, argument(inner, 0, "input"))
    return gm


KEY = duel_key(
    Fight(
        suspect=suspects.double_negation,
        name="double_negation",
        task="make `a` of `torch.neg(torch.neg(a))` where that changes nothing",
        right=(as_it_is, where_nothing_is_changed),
        keeps_meaning=True,
        limit=4,
        record=3,
        try_this="Has the suspect found the pattern in your trace? Print its graph before and "
        "after. If it has, which two nodes are one tensor now, and were two before?",
    ),
    nothing_outside="to keep every call is right, too",
)
