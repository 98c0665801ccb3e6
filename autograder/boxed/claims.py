"""From what a notebook's process says of an answer to a verdict. No student's code is run here."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.core.exercise import Exercise
from autograder.core.graph_jobs import GraphRunner, Result, do_here
from autograder.core.limits import Limits, OutOfTime, time_limit
from autograder.core.outcome import Outcome
from autograder.core.verdict import Finding, Status, Verdict
from autograder.grading import judge_random_models, without_random_models
from autograder.judge import judge
from autograder.judge.answer_text import Source
from autograder.judge.references import MissingReference

JUDGING = Limits(cpu=60.0, wall=600.0)
"""For looking at one answer."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Claims:
    """What a notebook's process says of an answer. Nothing in it is to be relied upon.

    Attributes:
        state: ``"tried"``, ``"undefined"``, ``"not callable"``; ``"lost"`` where the process is
            gone, which the judge has seen for itself.
        kind: of what it is that cannot be called.
        case: the last case that was begun.
        how: how the process ended.
        outcomes: one for each case that was tried.
    """

    state: str = ""
    kind: str = ""
    case: str = ""
    how: str = ""
    outcomes: list[Outcome] = field(default_factory=list)


def verdict_on(
    exercise: Exercise,
    claims: Claims,
    graphs: GraphRunner = do_here,
    source: Source | None = None,
) -> Verdict:
    """The verdict on an answer that was tried on the hand-picked cases.

    Args:
        exercise: the exercise.
        claims: what the notebook's process says.
        graphs: does what is to be done with graphs that it described.
        source: where the answer's text stands.

    Raises:
        MissingReference: the course's own reference files are out of date.
    """
    match claims.state:
        case "undefined":
            return _undefined(exercise)
        case "not callable":
            return _not_callable(exercise, claims.kind)
        case "lost":
            return _lost(exercise, claims)
        case "tried":

            def work_out() -> Verdict:
                return judge(exercise, claims.outcomes, runner=graphs, source=source)

            verdict = _judged(exercise, work_out)
            if exercise.random and verdict.shares and not verdict.passed:
                return without_random_models(verdict)
            return verdict
    return untried(exercise)


def verdict_on_drawn(
    exercise: Exercise, verdict: Verdict, drawn: Claims, seed: int, graphs: GraphRunner = do_here
) -> Verdict:
    """The verdict on an answer for which all hand-picked cases held, with its random models.

    Args:
        exercise: the exercise, which has random models.
        verdict: the verdict on the hand-picked cases.
        drawn: the claims about the random models.
        seed: their seed.
        graphs: does what is to be done with graphs that it described.
    """
    if drawn.state == "tried":
        return _judged(exercise, lambda: _judge_drawn(exercise, verdict, drawn, seed, graphs))
    without = without_random_models(verdict)
    lost = _lost(exercise, drawn) if drawn.state == "lost" else untried(exercise)
    return replace(lost, score=without.score, shares=without.shares, cases=without.cases)


def _judge_drawn(
    exercise: Exercise, verdict: Verdict, drawn: Claims, seed: int, graphs: GraphRunner
) -> Verdict:
    outcomes = drawn.outcomes
    if exercise.random is None:
        return verdict
    found = judge_random_models(exercise, exercise.random, verdict, outcomes, seed, graphs)
    return replace(found, cases=verdict.cases + len(outcomes))


def untried(exercise: Exercise) -> Verdict:
    """The verdict where there was no Python to try an answer in, or no trace of a trial."""
    message = f"`{exercise.name}` could not be tried: Python had ended, or was broken by a cell."
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


def _lost(exercise: Exercise, said: Claims) -> Verdict:
    """The verdict where an answer did not come back from a case."""
    names = {known.name for known in exercise.cases}
    where = f" on the case “{said.case}”" if said.case in names else ""
    if said.how == "out of time":
        message = f"`{exercise.name}` did not come to an end{where}, and could not be stopped."
        look = "Look for a loop that never ends, with a `try` in it that catches everything."
        return _nothing(exercise, "crashed", "out-of-time", message, look)
    if said.how == "out of memory":
        message = f"`{exercise.name}` used up all memory that a notebook may use{where}."
        look = "Look for a list or a tensor that grows with every step."
        return _nothing(exercise, "crashed", "out-of-memory", message, look)
    message = f"`{exercise.name}` ended Python itself while it was tried{where}."
    look = "Look for calls that end the process, such as `os._exit`, and for endless recursion."
    return _nothing(exercise, "crashed", "ended-python", message, look)


def _nothing(exercise: Exercise, status: Status, code: str, message: str, look: str) -> Verdict:
    return Verdict(exercise.name, status, 0.0, (Finding(code, message, look),))


def _judged(exercise: Exercise, work_out: Callable[[], Verdict]) -> Verdict:
    try:
        with time_limit(JUDGING):
            verdict = work_out()
    except MissingReference:
        raise
    except OutOfTime:
        message = f"What `{exercise.name}` did could not be judged in reasonable time."
        return _nothing(exercise, "failed", "unreadable", message, "Ask the person who grades.")
    except Exception:  # whatever is wrong with what a student's process has sent
        _log.exception("The answer to %s could not be judged", exercise.name)
        message = f"What `{exercise.name}` did could not be judged."
        return _nothing(exercise, "failed", "unreadable", message, "Ask the person who grades.")
    if verdict.passed or verdict.findings:
        return verdict
    message = f"What `{exercise.name}` did on some cases was not recorded."
    return replace(verdict, findings=(Finding("unrecorded", message),))


def sound_outcome(blobs: list[bytes], number: int) -> Outcome | None:
    """The outcome that a process claims for the case of a number; ``None`` if it is not sound."""
    try:
        (blob,) = blobs
        outcome = Outcome.read(io.BytesIO(blob))
    except Exception as error:  # whatever a student's process may have sent
        _log.debug("An outcome is not sound: %s", repr(error)[:500])
        return None
    return outcome if outcome.case == f"case {number}" else None


def sound_result(job: str, blobs: list[bytes], inputs: int) -> Result:
    """What came of a job with a graph, as the process says that did it.

    Args:
        job: the job.
        blobs: what was said.
        inputs: how many inputs the case has.
    """
    try:
        (blob,) = blobs
        said = Outcome.read(io.BytesIO(blob))
    except Exception as error:  # whatever somebody may have made of that process
        _log.debug("A result is not sound: %s", repr(error)[:500])
        return {"not admitted": "running it gave nothing that can be read"}, []
    found = said.value
    if isinstance(found, dict) and set(found) <= {"not admitted", "not listed"} and found:
        return {key: str(why)[:500] for key, why in found.items()}, []
    if not _FITS[job](found, inputs):
        return {"not admitted": "running it gave nothing that can be read"}, []
    return found, said.tensors


def _are_records(found: Any, inputs: int) -> bool:
    if type(found) is not list or len(found) != inputs:
        return False
    return all(map(_is_record, found))


def _is_record(row: Any) -> bool:
    if type(row) is not dict or not {"args", "log"} <= set(row):
        return False
    error = row.get("error")
    if error is None:
        return "value" in row
    return type(error) is dict and all(type(error.get(k)) is str for k in ("type", "message"))


def _are_names(found: Any, _: int) -> bool:
    return found is None or (type(found) is list and all(type(name) is str for name in found))


_FITS: dict[str, Callable[[Any, int], bool]] = {
    "results": _are_records,
    "results of both": _are_records,
    "matches": lambda found, _: type(found) is int,
    "unneeded": _are_names,
}
"""Whether what was said of a job is of its form."""
