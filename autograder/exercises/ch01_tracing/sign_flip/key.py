"""The answer key of `sign_flip`: a trace that computes the same as the branch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograder.authoring.key import (
    AnswerKey,
    CallResult,
    Encoded,
    Evidence,
    Finding,
    Stage,
    Way,
    advice_for,
    came_from,
    difference,
    error_text,
    reads,
    rule,
    target_text,
    traceable,
    wellformed,
)


@rule("nothing hidden", Stage.KIND)
def nothing_hidden(evidence: Evidence) -> Iterable[Finding]:
    """The graph has no wrapped function and no leaf module."""
    if not evidence.has_graph:
        return
    for row in evidence.graph["nodes"]:
        if row["op"] == "call_module" or _is_wrapped(row["target"]):
            yield evidence.finding(
                "hidden-branch",
                f"The trace calls `{target_text(row['target'])}` as a closed box: FX does not "
                "see what happens inside.",
                "Neither `fx.wrap` nor a leaf module: write the choice with operations on tensors.",
                nodes=(row["name"],),
            )
            return


def _is_wrapped(target: Encoded) -> bool:
    """Whether a target is a function that FX records only if it is wrapped."""
    if not isinstance(target, dict):
        return False
    name = target.get("function", "")
    return "opaque" in target or (name.startswith("builtins.") and name != "builtins.getattr")


@rule("depends on its input", Stage.STRUCTURE)
def depends_on_input(evidence: Evidence) -> Iterable[Finding]:
    """The value that the trace returns is computed from its input."""
    rows = evidence.graph["nodes"]
    reached: set[int] = set()
    for i, row in enumerate(rows):
        inputs = {leaf["node"] for leaf in reads(row) if "node" in leaf}
        if row["op"] == "placeholder" or inputs & reached:
            reached.add(i)
    if len(rows) - 1 not in reached:
        yield evidence.finding(
            "ignores-input",
            "The trace returns the same for every input: its output is not computed from `x`.",
            "Print `fx.symbolic_trace(sign_flip).code`. What was computed while tracing?",
        )


@rule("agrees with the branch", Stage.RESULT)
def agrees_with_branch(evidence: Evidence) -> Iterable[Finding]:
    """The function, its trace, and the trace under an Interpreter give the result of the branch."""
    for i, want in enumerate(evidence.reference.runs):
        record = evidence.run_record(i)
        for how, words in _WAYS.items():
            if how == "rebuilt" and how not in record:
                continue  # it calls the learner's own code, which another rule reports
            finding = _disagreement(evidence, i, how, words, record[how], want)
            if finding:
                yield finding
                return


_WAYS: dict[Way, str] = {
    "eager": "{you} itself",
    "forward": "the trace of {you}",
    "interpreter": "the trace of {you}, run by `fx.Interpreter`,",
    "rebuilt": "the graph of {you}",
}

_LOOK_AT_THE_SUM = (
    "The sum of all entries decides for the whole tensor. What is it for this input, and what "
    "should the result be: `x` or `-x`?"
)
_LOOK_AT_THE_CODE = (
    "Run as it is, your function is right here. Print `fx.symbolic_trace(sign_flip).code`: what "
    "is fixed there, and what does Python compute first in each line?"
)
_LOOK_AT = {
    "wrong-dtype": "What is the dtype of each value in your function, for this input? Tensors "
    "without dimensions count as equals.",
    "wrong-shape": "What is the shape of each value in your function, for this input?",
}


def _disagreement(
    evidence: Evidence, i: int, how: Way, words: str, got: CallResult, want: CallResult
) -> Finding | None:
    x = evidence.trial.inputs[i][0]
    who = words.format(you=evidence.you)
    given = f"For `{_as_text(x)}` of dtype {str(x.dtype).removeprefix('torch.')}"
    if "error" in got:
        error = got["error"]
        return evidence.finding(
            "result-raises",
            f"{given}, {who} raised {error_text(error)}.{came_from(error)}",
            advice_for(evidence.exercise, error, "result")
            or "Which of your operations does not exist for this shape or dtype?",
            error=error,
        )
    tables = evidence.tensors_of(how), evidence.reference.tensors
    # A changed argument also changes the value: report the cause, not its consequence.
    if difference(got["args"], tables[0], want["args"], tables[1]):
        return evidence.finding(
            "argument-changed",
            f"{given}, {who} changes `x` itself.",
            "An operation whose name ends in `_` changes the tensor that it is called on.",
        )
    found = difference(got["value"], tables[0], want["value"], tables[1])
    if found:
        return evidence.finding(
            found.code,
            f"{given}, {who} differs from the branch: {found.text}.",
            _LOOK_AT.get(found.code, _LOOK_AT_THE_SUM if how == "eager" else _LOOK_AT_THE_CODE),
        )
    return None


def _as_text(tensor: Any) -> str:
    return " ".join(str(tensor.tolist()).split())[:80]


KEY = AnswerKey(
    (
        traceable.because("says what tracing raised; without a graph nothing else can be judged"),
        nothing_hidden,
        wellformed.because("every graph of the course is well formed, an answer's trace too"),
        depends_on_input.because("says more than a wrong value about a trace that is a constant"),
        agrees_with_branch,
    )
)
