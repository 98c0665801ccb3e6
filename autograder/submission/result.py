"""The result of grading a submission: the one record for table, journal and gradebook.

It imports the standard library only, because the scheduler of a cluster reads it too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from autograder.submission.check_result import CheckResult, are_checks


class SubmissionStatus(StrEnum):
    """The ways in which grading ends, from harmless to bad, for programs and people."""

    GRADED = "graded"
    REPAIRED = "graded after repair"
    RESTORED = "restored"
    TAMPERED = "tampered"
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    CRASHED = "crashed"
    UNREADABLE = "unreadable"
    REFUSED = "refused"

    @property
    def colour(self) -> str:
        """The color of the status in tables."""
        return _COLOURS.get(self, "red")


_COLOURS = {
    SubmissionStatus.GRADED: "default",
    SubmissionStatus.REPAIRED: "yellow",
    SubmissionStatus.RESTORED: "yellow",
}


@dataclass(frozen=True)
class Result:
    """The result of one submission.

    Attributes:
        student: the student.
        chapter: the chapter.
        status: how grading ended.
        points: the points earned.
        max_points: the most points possible.
        notes: what was refused, repaired or happened, a sentence each.
        seconds: the time that grading took.
        in_this_run: whether it was graded in this run; false if it was read from a journal.
        checks: the result and findings of each check.
        restarts: number of restarts of Python.
        repairs: number of repairs.
        wall: the kind of sandbox in which it was graded; empty if unknown.
    """

    student: str
    chapter: str
    status: SubmissionStatus
    points: float = 0.0
    max_points: float = 0.0
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    in_this_run: bool = True
    checks: tuple[CheckResult, ...] = ()
    restarts: int = 0
    repairs: int = 0
    wall: str = ""

    def to_json(self) -> dict[str, Any]:
        """The result as JSON."""
        data = asdict(self)
        del data["in_this_run"]  # it has no meaning in another run
        data |= {"notes": list(self.notes), "seconds": round(self.seconds, 3)}
        return data | {"checks": [check.to_json() for check in self.checks]}

    @classmethod
    def from_json(cls, data: object) -> Result:
        """Parse the result of `to_json`, or of the same method in earlier versions.

        Raises:
            ValueError: if the data is invalid.
        """
        if not isinstance(data, dict):
            raise ValueError("a result is an object with fields")
        fields = _ADDED_LATER | _with_todays_names(data)
        if wrong := [name for name, is_sound in _SOUND.items() if not is_sound(fields.get(name))]:
            raise ValueError(f"a result has no sound {', '.join(wrong)}")
        known = {name: fields[name] for name in _SOUND}
        known["status"] = SubmissionStatus(fields["status"])
        known["notes"] = tuple(fields["notes"])
        known["checks"] = tuple(map(CheckResult.from_json, fields["checks"]))
        return cls(**known, in_this_run=False)


_EARLIER_NAMES = {"most": "max_points"}
_ADDED_LATER: dict[str, Any] = {"checks": [], "restarts": 0, "repairs": 0, "wall": ""}
"""Fields that results of earlier versions lack."""


def _with_todays_names(data: dict[str, Any]) -> dict[str, Any]:
    return {_EARLIER_NAMES.get(name, name): value for name, value in data.items()}


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_amount(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return math.isfinite(value) and value >= 0


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


_SOUND = {
    "student": _is_text,
    "chapter": _is_text,
    "status": _is_text,
    "points": _is_amount,
    "max_points": _is_amount,
    "notes": _are_texts,
    "seconds": _is_amount,
    "checks": are_checks,
    "restarts": _is_count,
    "repairs": _is_count,
    "wall": _is_text,
}
"""The fields of a stored result, each with its check."""


@dataclass(frozen=True)
class Score:
    """The score of one graded cell.

    Attributes:
        points: the points; ``None`` if the instructor must look at it.
        max_points: the most points possible.
    """

    points: float | None
    max_points: float


@dataclass(frozen=True)
class GradedNotebook:
    """A result, with the data for the gradebook and the folder of graded notebooks.

    Attributes:
        result: the result of the submission.
        text: the graded notebook, as a file's text.
        scores: by grade id.
        unanswered: grade ids of answers that are still as released.
        code: the digest of the repaired notebook; see `code_of`.
        final: if false (the grader failed), the next run grades the submission again.
        work: the digest of the answers, see `answers_of`; empty if they could not be read.
    """

    result: Result
    text: str
    scores: Mapping[str, Score]
    unanswered: tuple[str, ...] = ()
    final: bool = True
    code: str = ""
    work: str = ""

    @classmethod
    def of(
        cls,
        result: Result,
        text: str,
        scores: Mapping[str, Score],
        unanswered: tuple[str, ...] = (),
        *,
        final: bool = True,
        code: str = "",
    ) -> GradedNotebook:
        """A graded notebook whose result has the total points of its cells."""
        points = sum(score.points or 0.0 for score in scores.values())
        most = sum(score.max_points for score in scores.values())
        result = replace(result, points=points, max_points=most)
        return cls(result, text, scores, unanswered, final, code)
