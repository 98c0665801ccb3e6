"""Rules for the runs of an Interpreter: their results, and their effect on the arguments."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.core.execution import CallResult, ErrorRecord
from autograder.core.verdict import Finding
from autograder.judge.advice import advice_for
from autograder.judge.compare import difference
from autograder.judge.error_text import came_from, error_text
from autograder.judge.evidence import Evidence
from autograder.judge.rule import Stage, rule


@rule("runs as asked", Stage.RESULT)
def runs_as_asked(evidence: Evidence) -> Iterable[Finding]:
    """Each run must match the reference: value, error, and effect on the arguments."""
    for i, want in enumerate(evidence.reference.runs):
        found = _run_problem(evidence, i, evidence.outcome.runs[i]["forward"], want)
        if found:
            yield found
            return


def _run_problem(evidence: Evidence, i: int, got: CallResult, want: CallResult) -> Finding | None:
    number = i % len(evidence.trial.inputs)
    where = f"run {i + 1}, on {evidence.inputs_text(number)}"
    if "error" in want:
        return _error_problem(evidence, where, got, want["error"])
    if "error" in got:
        error = got["error"]
        return evidence.finding(
            "result-raises",
            f"`run` raised {error_text(error)} in {where}.{came_from(error)}",
            advice_for(evidence.exercise, error, "run")
            or "Did an earlier node of this graph get the value that it should have? "
            "A method without `return` gives `None`.",
            error=error,
        )
    tables = evidence.outcome.tensors, evidence.reference.tensors
    if got["value"] is None and want["value"] is not None:
        return evidence.finding(
            "returned-none",
            f"`run` returned `None` in {where}.",
            "Follow a node that you do not treat specially: which method handles it, and what "
            "does that method return?",
        )
    found = difference(got["value"], tables[0], want["value"], tables[1])
    if found:
        advice = (
            "Go through the graph node by node: what should each compute, and does it pass "
            "through more than one of your conditions?"
        )
        return evidence.finding(found.code, f"In {where}, {found.text}.", advice)
    found = difference(got["args"], tables[0], want["args"], tables[1], "the arguments afterwards")
    if found:
        advice = "Look for an operation in place that the graph does not have."
        return evidence.finding("argument-changed", f"In {where}, {found.text}.", advice)
    return None


def _error_problem(
    evidence: Evidence, where: str, got: CallResult, want: ErrorRecord
) -> Finding | None:
    if "error" not in got:
        return evidence.finding(
            "should-raise",
            f"A node of the graph raises `{want['type']}` in {where}, and `run` returned all the "
            "same.",
            "An error that is caught must be raised again.",
        )
    same_type = got["error"]["type"] == want["type"]
    if not same_type or want["message"] not in got["error"]["message"]:
        return evidence.finding(
            "wrong-exception",
            f"A node raises `{want['type']}: {want['message']}` in {where}, but out of `run` came "
            f"{error_text(got['error'])}.{came_from(got['error'])}",
            "The error of the operation must pass through as it is.",
            error=got["error"],
        )
    return None
