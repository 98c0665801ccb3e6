"""From what a trial left in its folder to a verdict, in a process that runs no student's code."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

from autograder.classroom.trial import STATE
from autograder.exercise import Exercise
from autograder.judge import judge
from autograder.outcome import Outcome
from autograder.randomly import judge_random_models
from autograder.references import MissingReference
from autograder.verdict import Finding, Status, Verdict

_log = logging.getLogger(__name__)


def verdict_on(
    exercise: Exercise, folder: Path, seed: int = 0, *, interrupted: bool = False
) -> Verdict:
    """The verdict on the answer that was tried. What the folder says is a claim, read as such.

    Args:
        exercise: the exercise.
        folder: where the trial left its outcomes.
        seed: the seed of its random models.
        interrupted: whether the trial was stopped because it took too long.

    Raises:
        MissingReference: the course's own reference files are out of date.
    """
    state = _state(folder)
    match state.get("state"):
        case "tried":
            return _judge(exercise, _outcomes(exercise, folder), seed)
        case "undefined":
            return _undefined(exercise)
        case "not callable":
            return _not_callable(exercise, state.get("type", ""))
        case "trying":
            return _lost(exercise, state.get("case", ""), interrupted)
    return untried(exercise)


def untried(exercise: Exercise) -> Verdict:
    """The verdict where there was no Python to try an answer in, or no trace of a trial."""
    message = f"`{exercise.name}` could not be tried: Python had ended before its check."
    look = "Restart the kernel, run the notebook from top to bottom, and see where it ends."
    return _nothing(exercise, "failed", "untried", message, look)


def _undefined(exercise: Exercise) -> Verdict:
    message = f"The notebook does not define `{exercise.name}`."
    look = (
        "Restart the kernel and run the notebook from top to bottom: the cell that defines it "
        "may be missing, or may raise an error."
    )
    return _nothing(exercise, "failed", "undefined", message, look)


def is_missing(verdict: Verdict) -> bool:
    """Whether the answer was not there yet, so that it may still come further down."""
    codes = {finding.code for finding in verdict.findings}
    return verdict.status == "not attempted" or "undefined" in codes


def _not_callable(exercise: Exercise, kind: str) -> Verdict:
    kind = kind if kind.isidentifier() else "object"
    message = f"`{exercise.name}` is not a function or class but a `{kind[:80]}`."
    look = "Look for a line that gives this name to something else."
    return _nothing(exercise, "failed", "wrong-kind", message, look)


def _lost(exercise: Exercise, case: str, interrupted: bool) -> Verdict:
    """The verdict where an answer did not come back from a case."""
    names = {known.name for known in exercise.cases}
    where = f" on the case “{case}”" if case in names else ""
    if interrupted:
        message = f"`{exercise.name}` did not come to an end{where}, and could not be stopped."
        look = "Look for a loop that never ends, with a `try` in it that catches everything."
        return _nothing(exercise, "crashed", "out-of-time", message, look)
    message = f"`{exercise.name}` ended Python itself while it was tried{where}."
    look = "Look for calls that end the process, such as `os._exit`, and for endless recursion."
    return _nothing(exercise, "crashed", "ended-python", message, look)


def _nothing(exercise: Exercise, status: Status, code: str, message: str, look: str) -> Verdict:
    return Verdict(exercise.name, status, 0.0, (Finding(code, message, look),))


def _judge(exercise: Exercise, outcomes: list[Outcome], seed: int) -> Verdict:
    try:
        verdict = judge(exercise, outcomes)
        if exercise.random:
            verdict = judge_random_models(exercise, exercise.random, verdict, outcomes, seed)
    except MissingReference:
        raise
    except Exception:
        _log.exception("The answer to %s could not be judged", exercise.name)
        message = f"What `{exercise.name}` did could not be judged."
        return _nothing(exercise, "failed", "unreadable", message, "Ask the person who grades.")
    if verdict.passed or verdict.findings:
        return verdict
    message = f"What `{exercise.name}` did on some cases was not recorded."
    return replace(verdict, findings=(Finding("unrecorded", message),))


def _state(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in found.items() if isinstance(v, str)} if isinstance(found, dict) else {}


def _outcomes(exercise: Exercise, folder: Path) -> list[Outcome]:
    """The sound outcomes among those that were left."""
    found = []
    most = len(exercise.cases) + (exercise.random.count if exercise.random else 0)
    for number in range(most):
        path = folder / f"{number:03}.outcome"
        if not path.exists():
            continue
        try:
            found.append(Outcome.load(path))
        except Exception as error:  # whatever a student's process may have written
            _log.warning("An outcome of %s is not sound: %r", exercise.name, error)
    return found
