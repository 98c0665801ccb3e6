"""What the exercises of chapter 11 about backends have in common."""

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
    """What the answer is the backend of can be run on all inputs."""
    for i in range(len(evidence.trial.inputs)):
        error = evidence.outcome.runs[i]["forward"].get("error")
        if error:
            # An object that is not callable here is what the backend has returned.
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
