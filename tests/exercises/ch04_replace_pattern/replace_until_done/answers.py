"""Answers to `replace_until_done`."""

from __future__ import annotations

import copy
import itertools
from typing import NamedTuple

from torch import fx

from tests.exercises import right, wrong


@right("one round more than allowed tells")
def one_round_more(model, pattern, replacement, limit=100):
    gm = fx.symbolic_trace(model)
    count = 0
    for _ in range(limit + 1):
        matches = fx.replace_pattern(gm, pattern, replacement)
        if not matches:
            return gm, count
        count += len(matches)
    raise RuntimeError("no end")


@right("counts the places first")
def counts_first(model, pattern, replacement, limit=100):
    def places(gm):
        return len(fx.replace_pattern(copy.deepcopy(gm), pattern, pattern))

    gm, total = fx.symbolic_trace(model), 0
    for _ in range(limit):
        if not places(gm):
            break
        total += len(fx.replace_pattern(gm, pattern, replacement))
    if places(gm):
        raise RuntimeError(f"still {places(gm)} places after {limit} rounds")
    return gm, total


@right("while and walrus")
def walrus(model, pattern, replacement, limit=100):
    gm, counts = fx.symbolic_trace(copy.deepcopy(model)), []
    while matches := fx.replace_pattern(gm, pattern, replacement):
        counts.append(len(matches))
        if len(counts) > limit:
            raise RuntimeError("the pattern still matches")
    return gm, sum(counts)


@right("recursive", debrief=True)
def recursive(model, pattern, replacement, limit=100):
    gm = fx.symbolic_trace(model)
    made = len(fx.replace_pattern(gm, pattern, replacement))
    if not made:
        return gm, 0
    if limit <= 0:
        raise RuntimeError("limit reached")
    done, more = recursive(gm, pattern, replacement, limit - 1)
    return done, made + more


@right("each part of the result gets the mode that it has in the model")
def modes_put_back(model, pattern, replacement, limit=100):
    gm, count = one_round_more(model, pattern, replacement, limit)
    parts = dict(model.named_modules(remove_duplicate=False))
    for path, part in gm.named_modules(remove_duplicate=False):
        if path in parts:
            part.training = parts[path].training
    return gm, count


class Done(NamedTuple):
    module: fx.GraphModule
    replacements: int


@right("a named tuple")
def named_tuple(model, pattern, replacement, limit=100):
    return Done(*one_round_more(model, pattern, replacement, limit))


@right("a subclass of RuntimeError, traced again every round")
def subclass(model, pattern, replacement, limit=100):
    total = 0
    for round_ in itertools.count():
        model = fx.symbolic_trace(model)
        matches = fx.replace_pattern(model, pattern, replacement)
        if not matches:
            return (model, total)
        if round_ == limit:
            raise RecursionError("too many rounds")
        total += len(matches)


@wrong("a copy of the result in eval mode", "mode-changed", clause="modes")
def copy_of_the_result_in_eval(model, pattern, replacement, limit=100):
    gm, count = one_round_more(model, pattern, replacement, limit)
    return copy.deepcopy(gm).eval(), count


@wrong("all parts in the root's mode", "mode-changed", clause="modes-of-parts")
def one_mode(model, pattern, replacement, limit=100):
    gm, count = one_round_more(copy.deepcopy(model), pattern, replacement, limit)
    return gm.train(gm.training), count


@wrong("one round only", "still-matches", clause="until")
def one_round(model, pattern, replacement, limit=100):
    gm = fx.symbolic_trace(model)
    return gm, len(fx.replace_pattern(gm, pattern, replacement))


@wrong("rounds are counted, not replacements", "wrong-count", clause="not-rounds")
def counts_rounds(model, pattern, replacement, limit=100):
    gm = fx.symbolic_trace(model)
    for rounds in range(limit + 1):
        if not fx.replace_pattern(gm, pattern, replacement):
            return gm, rounds
    raise RuntimeError("no end")


@wrong("only the last round is counted", "wrong-count", clause="count")
def counts_last_round(model, pattern, replacement, limit=100):
    gm, count = fx.symbolic_trace(model), 0
    for _ in range(limit + 1):
        matches = fx.replace_pattern(gm, pattern, replacement)
        if not matches:
            return gm, count
        count = len(matches)
    raise RuntimeError("no end")


@wrong("the last allowed round counts as too many", "crashed", clause="just-reached")
def one_too_few(model, pattern, replacement, limit=100):
    gm, count = fx.symbolic_trace(model), 0
    for _ in range(limit):
        matches = fx.replace_pattern(gm, pattern, replacement)
        if not matches:
            return gm, count
        count += len(matches)
    raise RuntimeError("no end")


@wrong("at the limit it returns what it has", "should-raise", clause="raises")
def returns_at_limit(model, pattern, replacement, limit=100):
    gm, count = fx.symbolic_trace(model), 0
    for _ in range(limit):
        matches = fx.replace_pattern(gm, pattern, replacement)
        if not matches:
            break
        count += len(matches)
    return gm, count


@wrong("another exception", "wrong-exception", clause="raises")
def other_exception(model, pattern, replacement, limit=100):
    try:
        return one_round_more(model, pattern, replacement, limit)
    except RuntimeError:
        raise ValueError("no end") from None


@wrong("a falsy limit means the default", "should-raise", clause="raises")
def falsy_limit(model, pattern, replacement, limit=100):
    return one_round_more(model, pattern, replacement, limit or 100)


@wrong("the limit has no default", "crashed", clause="default")
def no_default(model, pattern, replacement, limit):
    return one_round_more(model, pattern, replacement, limit)


@wrong("limit counts replacements", "crashed", clause="rounds")
def limit_of_replacements(model, pattern, replacement, limit=100):
    gm, count = fx.symbolic_trace(model), 0
    while True:
        matches = fx.replace_pattern(gm, pattern, replacement)
        if not matches:
            return gm, count
        count += len(matches)
        if count > limit:
            raise RuntimeError("no end")


@wrong("the caller's graph is rewritten", "caller-changed", clause="common.caller-graph")
def rewrites_the_caller(model, pattern, replacement, limit=100):
    gm, count = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model), 0
    for _ in range(limit + 1):
        matches = fx.replace_pattern(gm, pattern, replacement)
        if not matches:
            return gm, count
        count += len(matches)
    raise RuntimeError("no end")


@wrong("only the module is returned", "wrong-kind", clause="common.wrong-kind")
def only_module(model, pattern, replacement, limit=100):
    return one_round_more(model, pattern, replacement, limit)[0]


_LIMIT = "it is about the limit, which is high enough for every random model"


@wrong("99 rounds where no limit is given", "crashed", clause="default")
def ninety_nine_rounds(model, pattern, replacement, limit=99):
    return one_round_more(model, pattern, replacement, limit)


@wrong(
    "a copy of a graph module is not traced again", "unknown-target", clause="common.fresh-trace"
)
def copied_not_traced(model, pattern, replacement, limit=100):
    copied = isinstance(model, fx.GraphModule)
    gm, total = copy.deepcopy(model) if copied else fx.symbolic_trace(model), 0
    for _ in range(limit + 1):
        matches = fx.replace_pattern(gm, pattern, replacement)
        if not matches:
            return gm, total
        total += len(matches)
    raise RuntimeError("no end")


@wrong("only the root's flag is changed", "mode-changed", clause="modes-of-parts")
def root_in_eval(model, pattern, replacement, limit=100):
    gm, count = one_round_more(model, pattern, replacement, limit)
    gm.training = False
    return gm, count


BEYOND = {
    "99 rounds where no limit is given": _LIMIT,
    "a copy of a graph module is not traced again": "no graph module is drawn",
    "the last allowed round counts as too many": _LIMIT,
    "at the limit it returns what it has": _LIMIT,
    "another exception": _LIMIT,
    "a falsy limit means the default": _LIMIT,
    "limit counts replacements": _LIMIT,
}
