"""Beginners' mistakes in chapter 04."""

from __future__ import annotations

import torch.nn.functional as F
from torch import fx

from tests.exercises.mistakes import SHOWS_PLACE, UNSTICKS, mistake


@mistake("count_matches", "the matches, not their number", UNSTICKS)
def the_matches(model, pattern):
    return fx.replace_pattern(fx.symbolic_trace(model), pattern, pattern)


@mistake("count_matches", "the replacement is a lambda of nothing", UNSTICKS)
def no_parameters(model, pattern):
    return len(fx.replace_pattern(fx.symbolic_trace(model), pattern, lambda: 0))


@mistake(
    "count_matches",
    "counts nodes with the pattern's targets",
    SHOWS_PLACE,
    but="gives both numbers, but not which node is no match",
)
def counts_targets(model, pattern):
    wanted = {n.target for n in fx.symbolic_trace(pattern).graph.nodes if n.op == "call_function"}
    return sum(n.target in wanted for n in fx.symbolic_trace(model).graph.nodes)


@mistake("to_hardswish", "a pattern with the numbers as parameters' defaults", UNSTICKS)
def defaults(model):
    gm = fx.symbolic_trace(model)
    fx.replace_pattern(gm, lambda x, a=3, b=6: x * F.relu6(x + a) / b, lambda x: F.hardswish(x))
    return gm


@mistake("to_hardswish", "relu6 of the whole", UNSTICKS)
def relu6_outside(model):
    gm = fx.symbolic_trace(model)
    fx.replace_pattern(gm, lambda x: F.relu6(x * (x + 3)) / 6, lambda x: F.hardswish(x))
    return gm


@mistake("replace_until_done", "one round", UNSTICKS)
def one_round(model, pattern, replacement, limit=100):
    gm = fx.symbolic_trace(model)
    return gm, len(fx.replace_pattern(gm, pattern, replacement))


@mistake("replace_until_done", "endless, the limit is forgotten", UNSTICKS)
def forgets_limit(model, pattern, replacement, limit=100):
    gm, count = fx.symbolic_trace(model), 0
    while True:
        matches = fx.replace_pattern(gm, pattern, replacement)
        if not matches:
            return gm, count
        count += len(matches)
