"""The answer key of `compare_latency`: the measured calls and their order, never the speed.

The callables of a case record their own seconds. The answer must return a median of these, or
slightly more. So a busy machine does not make a right answer wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median, median_high, median_low
from typing import Any

from autograder.authoring.key import (
    GRADIENTS_ON,
    AnswerKey,
    Encoder,
    Evidence,
    Finding,
    Reference,
    RunRecord,
    Stage,
    Trial,
    caller_untouched,
    came_from,
    error_text,
    kind_of,
    rule,
    times,
)
from autograder.exercises.ch10_fusion.compare_latency.cases import Latency
from autograder.exercises.ch10_fusion.compare_latency.models import kinds_of

DEFAULT = 20
AT_LEAST, AT_MOST = 0.9, 1.5
SLACK, SLACK_OF_FEW, FEW = 0.003, 0.008, 5
"""Extra seconds that a call may take; the median of few calls may be such an outlier."""


def nothing_to_compare(trial: Trial) -> Reference:
    """No stored reference: rules compare the result with the callables' own records."""
    return Reference(None, [{} for _ in trial.inputs])


def _runs(evidence: Evidence) -> Iterator[tuple[RunRecord, int, bool]]:
    """The record of each call of the answer, its `repeats`, and the gradient mode before it."""
    for run, (gradients, keywords) in zip(
        evidence.outcome.runs, evidence.trial.inputs, strict=True
    ):
        yield run, keywords.get("repeats", DEFAULT), gradients == GRADIENTS_ON


def _notes(run: RunRecord) -> list[list[Any]]:
    """The records of the callables, in order: name, gradient mode, seconds, inputs."""
    return [row["list"] for row in run["forward"]["log"]["list"]]


@rule("exceptions come through", Stage.KIND)
def exceptions(evidence: Evidence) -> Iterable[Finding]:
    """An exception of a callable must reach the caller, and there must be no other one."""
    wanted = evidence.expects(Latency).fails
    for run, _, _ in _runs(evidence):
        error = run["forward"].get("error")
        if error and wanted not in error["types"]:
            yield evidence.finding(
                "crashed",
                f"{evidence.you} raised {error_text(error)}.{came_from(error)}",
                "Both are called as `a(*inputs)`: any callables, functions or modules; any inputs.",
                error=error,
            )
        elif wanted and not error:
            yield evidence.finding(
                "should-raise",
                f"A call of one of the two raised `{wanted}`, and {evidence.you} did not.",
                "What is raised while something is measured is for the caller to see.",
            )


@rule("gradient mode kept", Stage.CALLER)
def mode_kept(evidence: Evidence) -> Iterable[Finding]:
    """The gradient mode must be the same afterwards."""
    for run, _, before in _runs(evidence):
        if run["afterwards"] is not before:
            words = ("on", "off") if before else ("off", "on")
            when = " and a call had raised" if "error" in run["forward"] else ""
            yield evidence.finding(
                "mode-left",
                f"Gradients were {words[0]} before the call of {evidence.you}{when}, and "
                f"{words[1]} afterwards.",
                "A `with` block puts the mode back, whatever happens in it.",
            )


@rule("two numbers", Stage.FORM)
def two_numbers(evidence: Evidence) -> Iterable[Finding]:
    """The answer must return a tuple of two floats."""
    for run, _, _ in _runs(evidence):
        if "error" in run["forward"]:
            continue
        value = run["forward"]["value"]
        items = value.get("tuple") if isinstance(value, dict) else None
        if items is None:
            advice = (
                "Does every path through your function end with `return`?" if value is None else ""
            )
            yield evidence.finding(
                "returned-none" if value is None else "wrong-kind",
                f"{evidence.you} returned {kind_of(value)}, not a tuple of two numbers.",
                advice or "One number for each of the two, in a tuple.",
            )
        elif [kind_of(item) for item in items] != ["a `float`"] * 2:
            kinds = ", ".join(map(kind_of, items)) or "nothing"
            yield evidence.finding(
                "wrong-kind",
                f"{evidence.you} returned a tuple of {kinds}; it should be two floats.",
                "Seconds are a `float`, one for each of the two.",
            )


@rule("called as asked", Stage.STRUCTURE)
def called_as_asked(evidence: Evidence) -> Iterable[Finding]:
    """Each must run once to warm up and `repeats` times more, in turn, without gradients."""
    wanted = Encoder().encode(kinds_of(evidence.trial.args[2]))
    for run, repeats, _ in _runs(evidence):
        notes = _notes(run)
        if any(note[3] != wanted for note in notes):
            yield evidence.finding(
                "wrong-inputs",
                "One of the two was called with something else than the inputs.",
                "`inputs` is a tuple of arguments: how is it handed over?",
            )
        elif "error" in run["forward"]:
            continue
        else:
            yield from _counted(evidence, notes, repeats)


def _counted(evidence: Evidence, notes: list[list[Any]], repeats: int) -> Iterable[Finding]:
    names = [note[0] for note in notes]
    for name in ("a", "b"):
        count = names.count(name)
        if count < repeats + 1:
            yield evidence.finding(
                "too-few-calls",
                f"`{name}` was called {times(count)}. With `repeats` {repeats} and a warm-up, it "
                f"is called {repeats + 1} times, or more often.",
                "A call that warms up is not measured, and each of the two needs one."
                if count
                else "Both are called as `a(*inputs)`, whatever kind of callable they are.",
            )
            return
    measured = names[-2 * repeats :]
    if any(sorted(measured[i : i + 2]) != ["a", "b"] for i in range(0, 2 * repeats, 2)):
        yield evidence.finding(
            "not-in-turn",
            f"The measured calls ran in this order: {_order(measured)}.",
            "A machine gets slower while it gets warm, so each round measures both.",
        )
    elif any(note[1] for note in notes[-2 * repeats :]):
        yield evidence.finding(
            "with-gradients",
            "Gradients were on during a call that was measured.",
            "With gradients, a model also notes what it would need for a backward pass.",
        )


def _order(names: list[str]) -> str:
    text = ", ".join(names[:8])
    return f"{text}, …" if len(names) > 8 else text


@rule("median seconds", Stage.RESULT)
def median_seconds(evidence: Evidence) -> Iterable[Finding]:
    """Each number must be the median of the seconds of the last `repeats` calls."""
    for run, repeats, _ in _runs(evidence):
        if "error" in run["forward"]:
            continue
        slack = SLACK if repeats >= FEW else SLACK_OF_FEW
        for name, got in zip("ab", run["forward"]["value"]["tuple"], strict=True):
            noted = [note[2] for note in _notes(run) if note[0] == name][-repeats:]
            want = median(noted)
            number = got if isinstance(got, float) else float(got["float"])
            # For an even number of calls, either middle value may be the median.
            low, high = median_low(noted), median_high(noted)
            if not AT_LEAST * low <= number <= AT_MOST * high + slack:
                calls = "the last call" if repeats == 1 else f"the last {repeats} calls"
                yield evidence.finding(
                    "wrong-time",
                    f"For `{name}` it gave {number:.4g} seconds; the median of {calls} of it was "
                    f"{want:.4g} seconds.",
                    "Look at which calls are measured, by which clock, in which unit, and what "
                    "is made of the times.",
                )
                return


KEY = AnswerKey(
    (
        exceptions,
        caller_untouched,
        mode_kept,
        two_numbers.because("names the kind that came back, before it is compared with anything"),
        called_as_asked,
        median_seconds,
    ),
    nothing_to_compare,
    oracle_only=True,
)
