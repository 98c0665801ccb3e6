"""Answers to `run_pipeline`."""

from __future__ import annotations

import copy

from torch import fx
from torch.fx.passes.infra.pass_base import PassResult
from torch.fx.passes.infra.pass_manager import PassManager

from tests.exercises import right, wrong


def name_of(each):
    return getattr(each, "__name__", type(each).__name__)


def refuse_other(result):
    if not isinstance(result, PassResult):
        raise TypeError(f"a pass returns a PassResult, not {result!r:.40}")


def all_checks(checks, given, result, last):
    for check in checks:
        check(result.graph_module)


def piped(
    gm,
    passes,
    checks,
    limit,
    *,
    start=copy.deepcopy,
    copied=copy.deepcopy,
    back=lambda given, kept: kept,
    kind=refuse_other,
    run_checks=all_checks,
    says=lambda result: result.modified,
    key=id,
    named=name_of,
    text="{name}: {kind}: {error}",
    caught=Exception,
    rounds=lambda limit: range(limit),
    end="raise",
    failed_counts=False,
    again=False,
    stop=False,
    answer=lambda gm, report: (gm, report),
):
    """The structure of most answers; each step can be replaced.

    Either a pass gets the module and a copy is kept, or the other way around.
    """
    current, out, report = start(gm), set(), []
    for _ in rounds(limit):
        modified = False
        for i, each in enumerate(passes):
            if key(each) in out:
                continue
            kept = copied(current)
            result = None
            try:
                result = each(current)
                kind(result)
                run_checks(checks, current, result, i == len(passes) - 1)
            except caught as error:
                current = back(current, kept)
                if not again:
                    out.add(key(each))
                kind_of_error = type(error).__name__
                report.append(text.format(name=named(each), kind=kind_of_error, error=error))
                modified |= bool(
                    failed_counts and isinstance(result, PassResult) and result.modified
                )
                if stop:
                    return answer(current, report)
            else:
                current = result.graph_module
                modified |= bool(says(result))
        if not modified:
            return answer(current, report)
    if end == "raise":
        raise RuntimeError(f"round {limit} still modified the module")
    return answer(current, report)


@right("the pass works on a copy, which is taken over if all goes well", debrief=True)
def on_copies(gm, passes, checks=(), limit=20):
    current, left, report = gm, list(passes), []
    for _ in range(limit):
        rest = False
        for each in list(left):
            try:
                result = each(copy.deepcopy(current))
                if not isinstance(result, PassResult):
                    raise TypeError("no PassResult")
                for check in checks:
                    check(result.graph_module)
            except Exception as error:
                left = [other for other in left if other is not each]
                report.append(f"{name_of(each)}: {type(error).__name__}: {error}")
                continue
            current = result.graph_module
            rest = rest or result.modified
        if not rest:
            return current, report
    raise RuntimeError("the passes do not come to rest")


@right("a copy is kept, and put back")
def put_back(gm, passes, checks=(), limit=20):
    return piped(gm, passes, checks, limit)


class Pipeline:
    """Restore graph and state in one module."""

    def __init__(self, gm, checks):
        self.gm, self.checks, self.report = copy.deepcopy(gm), tuple(checks), []

    def attempt(self, each):
        before = copy.deepcopy(self.gm)
        try:
            graph_module, modified = result = each(self.gm)
            if type(result) is not PassResult:
                raise TypeError(f"{result}")
            [check(graph_module) for check in self.checks]
        except Exception as error:
            name = each.__name__ if hasattr(each, "__name__") else each.__class__.__name__
            if isinstance(error, TypeError | ValueError) and "unpack" in str(error):
                error = TypeError("no PassResult")
            self.gm = before
            self.report += [f"{name}: {error.__class__.__name__}: {error!s}"]
            return None
        self.gm = graph_module
        return bool(modified)


@right("an object that holds the module, rounds by recursion")
def recursive(gm, passes, checks=(), limit=20):
    pipeline = Pipeline(gm, checks)

    def rounds(passes, left):
        if left == 0:
            raise RuntimeError("too many rounds")
        said = [pipeline.attempt(each) for each in passes]
        passes = [each for each, how in zip(passes, said, strict=True) if how is not None]
        return rounds(passes, left - 1) if any(said) else None

    rounds(tuple(passes), limit)
    return pipeline.gm, pipeline.report


@right("a manager for each pass, with its checks")
def by_managers(gm, passes, checks=(), limit=20):
    def check_all(module):
        for check in checks:
            check(module)

    def strict(each):
        def run(module):
            result = each(module)
            refuse_other(result)
            return result

        return run

    current, report, alive = copy.deepcopy(gm), [], [True] * len(passes)
    for _ in range(limit):
        modified = False
        for i, each in enumerate(passes):
            if not alive[i]:
                continue
            manager = PassManager([strict(each)], run_checks_after_each_pass=True)
            try:
                result = manager(copy.deepcopy(current))
                check_all(result.graph_module)
            except Exception as error:
                cause = error.__cause__ or error
                report.append(f"{name_of(each)}: {type(cause).__name__}: {cause}")
                alive[i] = False
            else:
                current, modified = result.graph_module, modified or result.modified
        if not modified:
            break
    else:
        raise RuntimeError(f"{limit} rounds were not enough")
    return current, report


def put(style, finding, clause, **how):
    """Mark a wrong answer that differs in one step."""

    def answer(gm, passes, checks=(), limit=20):
        return piped(gm, passes, checks, limit, **how)

    wrong(style, finding, clause=clause)(answer)


def last_check(checks, given, result, last):
    for check in checks[-1:]:
        check(result.graph_module)


def if_modified(checks, given, result, last):
    if result.modified:
        all_checks(checks, given, result, last)


def on_the_given(checks, given, result, last):
    for check in checks:
        check(given)


def false_is_broken(checks, given, result, last):
    for check in checks:
        if check(result.graph_module) is False:
            raise ValueError("not in order")


def at_the_end(checks, given, result, last):
    if last:
        all_checks(checks, given, result, last)


def like_a_manager(result):
    if not isinstance(result, PassResult) and not hasattr(result, "graph_module"):
        raise TypeError("no PassResult")


def a_tuple_will_do(result):
    if not isinstance(result, tuple):
        raise TypeError("no PassResult")


def shared(gm):
    return fx.GraphModule(gm, copy.deepcopy(gm.graph))


def half_back(given, kept):
    given.graph = kept.graph
    return given


put("nothing is undone", "wrong-graph", "undone-graph", back=lambda given, kept: given)
put("a copy with the same layers", "wrong-weights", "undone-weights", copied=shared)
put("only the graph is put back", "wrong-layers", "undone-layers", back=half_back)
put("the given module itself", "caller-changed", "given-unchanged", start=lambda gm: gm)
put("no checks", "wrong-report", "checks", run_checks=lambda *_: None)
put("the last check only", "wrong-report", "all-checks", run_checks=last_check)
put("checks only what says modified", "wrong-report", "whatever-modified", run_checks=if_modified)
put("checks what was given", "wrong-report", "on-what-it-returned", run_checks=on_the_given)
put("checks at the end of a round", "wrong-report", "after-every-pass", run_checks=at_the_end)
put("an attribute will do", "wrong-report", "no-pass-result", kind=like_a_manager)
put("any tuple will do", "crashed", "no-pass-result", kind=a_tuple_will_do)


put("told by name", "wrong-graph", "one-name", key=name_of)
put("tried again", "too-much-reported", "not-again", again=True)
put("a failure counts as modified", "wrong-graph", "held", failed_counts=True)
put("stops at the first failure", "wrong-graph", "others-go-on", stop=True)
put("the class's name for all", "wrong-report", "names", named=lambda each: type(each).__name__)
put("the message alone", "wrong-report", "text", text="{name}: {error}")
put("one round more", "should-raise", "limit", rounds=lambda limit: range(limit + 1))
put("one round less", "crashed", "limit", rounds=lambda limit: range(limit - 1))
put("no error at the limit", "should-raise", "limit-raises", end="return")
put("one round", "wrong-graph", "rounds", rounds=lambda limit: range(1), end="return")
put("only ValueError", "crashed", "raises", caught=ValueError)
put("the module alone", "wrong-kind", "pair", answer=lambda gm, report: gm)
put("a text for a report", "report-kind", "report", answer=lambda gm, report: (gm, str(report)))
put("a check that gives False", "too-much-reported", "checks", run_checks=false_is_broken)
put("a sorted report", "wrong-report", "in-order", answer=lambda gm, report: (gm, sorted(report)))
put("always another round", "wrong-graph", "rest",
    says=lambda result: True, rounds=lambda limit: range(2), end="return")  # fmt: skip


def slipped_in(given, kept):
    given._graph = kept.graph
    given._modules, given._parameters = kept._modules, kept._parameters
    return given


@wrong("modified by comparison", "wrong-graph", clause="believed")
def compared(gm, passes, checks=(), limit=20):
    before = []

    def says(result):
        code = str(result.graph_module.graph)
        changed = before != [code]
        before[:] = [code]
        return changed

    before.append(str(gm.graph))
    return piped(gm, passes, checks, limit, says=says)


@wrong("each pass until it rests", "wrong-graph", clause="round-after-round")
def each_until_it_rests(gm, passes, checks=(), limit=20):
    current, report = gm, []
    for each in passes:
        current, more = piped(current, [each], checks, limit)
        report += more
    return current, report


@wrong("takes out of the caller's list", "lists-changed", clause="lists-unchanged")
def takes_out(gm, passes, checks=(), limit=20):
    result = piped(gm, list(passes), checks, limit)
    failed = {text.split(":")[0] for text in result[1]}
    for each in [each for each in passes if name_of(each) in failed]:
        passes.remove(each)
    return result


@wrong("keeps the old module", "crashed", clause="another-module")
def keeps_the_old(gm, passes, checks=(), limit=20):
    def in_place(each):
        def run(module):
            result = each(module)
            return PassResult(module, result.modified) if type(result) is PassResult else result

        run.__name__ = name_of(each)
        return run

    return piped(gm, [in_place(each) for each in passes], checks, limit)


@wrong("from the last pass to the first", "wrong-report", clause="all-in-order")
def backwards(gm, passes, checks=(), limit=20):
    return piped(gm, passes[::-1], checks, limit)


@wrong("everything is caught", "swallowed-interrupt", clause="interrupt")
def everything_is_caught(gm, passes, checks=(), limit=20):
    return piped(gm, passes, checks, limit, caught=BaseException)


@wrong("ten rounds", "crashed", clause="default")
def ten_rounds(gm, passes, checks=(), limit=10):
    return piped(gm, passes, checks, limit)


put("the old graph is slipped in", "stale-code", "undone-graph", back=slipped_in)


BEYOND = {
    "one round more": "random pipelines come to rest long before the limit",
    "no error at the limit": "random pipelines come to rest long before the limit",
    "ten rounds": "random pipelines come to rest long before the limit",
    "everything is caught": "no random pass is interrupted",
}


ADVICE_ON = [
    (
        {
            "type": "KeyError",
            "message": "'nothing to tidy up'",
            "types": ["Exception"],
            "text": "result = each(gm)",
        },
        "lets it out",
    ),
    (
        {
            "type": "AssertionError",
            "message": "",
            "types": ["Exception"],
            "text": "result = each(gm)",
        },
        "lets it out",
    ),
    (
        {
            "type": "AttributeError",
            "text": "gm = result.graph_module",
            "message": "'NoneType' object has no attribute 'graph_module'",
        },
        "`NoneType`, and no",
    ),
    (
        {
            "type": "TypeError",
            "text": "gm, modified = each(gm)",
            "message": "cannot unpack non-iterable GraphModule object",
        },
        "`GraphModule`, and no",
    ),
]
"""Errors in an answer, with a part of the advice that a card gives on each."""
