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


@wrong("the untouched stub", "not-attempted")
def stub(model, pattern, replacement, limit=100):
    raise NotImplementedError()


@wrong("a deep copy in eval mode is traced", "mode-changed")
def copy_in_eval(model, pattern, replacement, limit=100):
    return one_round_more(copy.deepcopy(model).eval(), pattern, replacement, limit)


@wrong("the result in eval mode", "caller-changed")
def result_in_eval(model, pattern, replacement, limit=100):
    gm, count = one_round_more(model, pattern, replacement, limit)
    return gm.eval(), count


@wrong("a copy of the result in eval mode", "mode-changed", clause="modes")
def copy_of_the_result_in_eval(model, pattern, replacement, limit=100):
    gm, count = one_round_more(model, pattern, replacement, limit)
    return copy.deepcopy(gm).eval(), count


@wrong("all parts in the root's mode", "mode-changed", clause="modes-of-parts")
def one_mode(model, pattern, replacement, limit=100):
    gm, count = one_round_more(copy.deepcopy(model), pattern, replacement, limit)
    return gm.train(gm.training), count


@wrong("each part of the result is looked up in the model", "crashed")
def looks_each_part_up(model, pattern, replacement, limit=100):
    gm, count = one_round_more(model, pattern, replacement, limit)
    for path, part in gm.named_modules():
        part.training = model.get_submodule(path).training
    return gm, count


@wrong("only the root's flag is changed", "mode-changed")
def root_in_eval(model, pattern, replacement, limit=100):
    gm, count = one_round_more(model, pattern, replacement, limit)
    gm.training = False
    return gm, count


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


@wrong("only the first round is counted", "wrong-count")
def counts_first_round(model, pattern, replacement, limit=100):
    gm = fx.symbolic_trace(model)
    first = len(fx.replace_pattern(gm, pattern, replacement))
    for _ in range(limit):
        if not fx.replace_pattern(gm, pattern, replacement):
            return gm, first
    if not first:
        return gm, 0
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


@wrong("one round more than allowed", "should-raise")
def one_too_many(model, pattern, replacement, limit=100):
    gm, count = fx.symbolic_trace(model), 0
    for _ in range(limit + 2):
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


@wrong("another exception", "wrong-exception", clause="which-error")
def other_exception(model, pattern, replacement, limit=100):
    try:
        return one_round_more(model, pattern, replacement, limit)
    except RuntimeError:
        raise ValueError("no end") from None


@wrong("the limit is ignored, ten rounds are made", "crashed")
def own_limit(model, pattern, replacement, limit=100):
    return one_round_more(model, pattern, replacement, min(limit, 10))


@wrong("a falsy limit means the default", "should-raise", clause="zero")
def falsy_limit(model, pattern, replacement, limit=100):
    return one_round_more(model, pattern, replacement, limit or 100)


@wrong("no limit parameter", "crashed")
def no_limit(model, pattern, replacement):
    return one_round_more(model, pattern, replacement)


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


@wrong("as many replacements as the limit end it, if the pattern still matches", "crashed")
def limit_ends_replacements(model, pattern, replacement, limit=100):
    gm, count = fx.symbolic_trace(model), 0
    while matches := fx.replace_pattern(gm, pattern, replacement):
        if count >= limit:
            raise RuntimeError("no end")
        count += len(matches)
    return gm, count


@wrong("the caller's graph is rewritten", "caller-changed")
def rewrites_the_caller(model, pattern, replacement, limit=100):
    gm, count = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model), 0
    for _ in range(limit + 1):
        matches = fx.replace_pattern(gm, pattern, replacement)
        if not matches:
            return gm, count
        count += len(matches)
    raise RuntimeError("no end")


@wrong("only the module is returned", "wrong-kind")
def only_module(model, pattern, replacement, limit=100):
    return one_round_more(model, pattern, replacement, limit)[0]


@wrong("the two in the other order", "wrong-kind")
def other_order(model, pattern, replacement, limit=100):
    return one_round_more(model, pattern, replacement, limit)[::-1]


@wrong("nothing is returned", "returned-none")
def returns_nothing(model, pattern, replacement, limit=100):
    one_round_more(model, pattern, replacement, limit)


@wrong("the matches instead of their number", "wrong-kind")
def matches_not_number(model, pattern, replacement, limit=100):
    gm, count = one_round_more(model, pattern, replacement, limit)
    return gm, [None] * count


@wrong("stops when a round makes as many replacements as the one before", "still-matches")
def stops_when_steady(model, pattern, replacement, limit=100):
    gm, counts = fx.symbolic_trace(model), [-1]
    for _ in range(limit + 1):
        counts.append(len(fx.replace_pattern(gm, pattern, replacement)))
        if counts[-1] in (0, counts[-2]):
            return gm, sum(counts) + 1
    raise RuntimeError("no end")


@wrong("all rounds are counted, the module of the first is returned", "still-matches")
def module_of_first_round(model, pattern, replacement, limit=100):
    first = fx.symbolic_trace(model)
    fx.replace_pattern(first, pattern, replacement)
    return first, one_round_more(model, pattern, replacement, limit)[1]


@wrong("a graph without its module", "wrong-kind")
def returns_graph(model, pattern, replacement, limit=100):
    gm, count = one_round_more(model, pattern, replacement, limit)
    return gm.graph, count


_LIMIT = "it is about the limit, which is high enough for every random model"


@wrong("one round in any case", "should-raise")
def at_least_one_round(model, pattern, replacement, limit=100):
    gm, total = fx.symbolic_trace(model), 0
    for _ in range(max(limit, 1)):
        total += len(fx.replace_pattern(gm, pattern, replacement))
    if fx.replace_pattern(copy.deepcopy(gm), pattern, replacement):
        raise RuntimeError("no end")
    return gm, total


@wrong("a limit of its own where none is given", "should-raise")
def a_thousand_rounds(model, pattern, replacement, limit=1000):
    return one_round_more(model, pattern, replacement, limit)


@wrong("99 rounds where no limit is given", "crashed")
def ninety_nine_rounds(model, pattern, replacement, limit=99):
    return one_round_more(model, pattern, replacement, limit)


@wrong("a copy of a graph module is not traced again", "unknown-target")
def copied_not_traced(model, pattern, replacement, limit=100):
    copied = isinstance(model, fx.GraphModule)
    gm, total = copy.deepcopy(model) if copied else fx.symbolic_trace(model), 0
    for _ in range(limit + 1):
        matches = fx.replace_pattern(gm, pattern, replacement)
        if not matches:
            return gm, total
        total += len(matches)
    raise RuntimeError("no end")


BEYOND = {
    "each part of the result is looked up in the model": "no replacement brings a module",
    "one round in any case": _LIMIT,
    "a limit of its own where none is given": _LIMIT,
    "99 rounds where no limit is given": _LIMIT,
    "a copy of a graph module is not traced again": "no graph module is drawn",
    "the last allowed round counts as too many": _LIMIT,
    "one round more than allowed": _LIMIT,
    "at the limit it returns what it has": _LIMIT,
    "another exception": _LIMIT,
    "the limit is ignored, ten rounds are made": _LIMIT,
    "a falsy limit means the default": _LIMIT,
    "limit counts replacements": _LIMIT,
    "as many replacements as the limit end it, if the pattern still matches": _LIMIT,
    "stops when a round makes as many replacements as the one before": (
        "three rounds with as many replacements each are needed"
    ),
}
