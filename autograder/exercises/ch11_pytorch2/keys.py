"""Shared rules of chapter 11's exercises about backends."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.authoring.key import (
    Evidence,
    Finding,
    Stage,
    advice_for,
    came_from,
    error_text,
    rule,
)

_LOOK = (
    "A backend is called with a graph module and example inputs, and returns a callable: what does "
    "yours return, and what does that do with its arguments?"
)


@rule("runs", Stage.FORM)
def compiled_code_runs(evidence: Evidence) -> Iterable[Finding]:
    """Code compiled by the answer must run on all inputs."""
    for i in range(len(evidence.trial.inputs)):
        error = evidence.outcome.runs[i]["forward"].get("error")
        if error:
            # In this process, the return value of the backend is what cannot be called.
            theirs = came_from(error) or "is not callable" not in error_text(error)
            advice = advice_for(evidence.exercise, error, "result") if theirs else ""
            yield evidence.finding(
                "result-raises",
                f"Run {i + 1}, on {evidence.inputs_text(i)}, raised {error_text(error)}."
                f"{came_from(error)}",
                advice or _LOOK,
                error=error,
            )
            return
