"""The answer key of `WitnessPlusZero`: safe removals of zero, and a pass that checks nothing."""

from __future__ import annotations

import operator

import torch
from torch import fx

from autograder import suspects
from autograder.authoring.key import Fight, duel_key
from autograder.exercises.ch09b_duels.right_passes import all_pure, as_it_is, exchange

_FLOATING = (torch.exp, torch.sigmoid, torch.tanh, "exp", "sigmoid", "tanh")


def where_nobody_sees_it(gm: fx.GraphModule) -> fx.GraphModule:
    """Remove `x * 1` and `x - 0` if `x` is floating and no call works in place."""
    if not all_pure(gm):
        return gm
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.args[1:] in ((1,), (0,)) and not node.kwargs:
            x, number = node.args
            fits = node.target is (operator.mul if number else operator.sub)
            if fits and type(number) is int and getattr(x, "target", None) in _FLOATING:
                exchange(node, x)
    return gm


KEY = duel_key(
    Fight(
        suspect=suspects.plus_zero,
        name="plus_zero",
        task="take out `x + 0`, `x - 0` and `x * 1` where that changes nothing",
        right=(as_it_is, where_nobody_sees_it),
        keeps_meaning=True,
        limit=3,
        record=1,
        try_this="Is the sum gone from the graph? Then look at what the result is: not only its "
        "values.",
    ),
    nothing_outside="to keep every call is right, too",
)
