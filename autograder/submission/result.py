"""What became of a submission: the one record that table, journal and gradebook speak of.

It imports the standard library alone: the scheduler of a cluster, too, reads it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from autograder.submission.check_result import CheckResult, are_checks


class SubmissionStatus(StrEnum):
    """How a submission can end, from harmless to bad. Programs compare these; people read them."""

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
        """The colour that it is shown in."""
        return _COLOURS.get(self, "red")


_COLOURS = {
    SubmissionStatus.GRADED: "default",
    SubmissionStatus.REPAIRED: "yellow",
    SubmissionStatus.RESTORED: "yellow",
}


@dataclass(frozen=True)
class Result:
    """What became of one submission.

    Attributes:
        student: whose it is.
        chapter: the chapter.
        status: how it ended.
        points: what it earned.
        max_points: what it could earn.
        notes: what was refused, repaired or happened, a sentence each.
        seconds: how long it took.
        in_this_run: whether it was graded in this run; what a journal says was graded before.
        checks: how each check went, and what was found.
        restarts: how many times Python had to be started again for it.
        repairs: how many things were put right in it.
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

    def to_json(self) -> dict[str, Any]:
        """The result as JSON."""
        data = asdict(self)
        del data["in_this_run"]  # it is nothing to whoever reads it in another run
        data |= {"notes": list(self.notes), "seconds": round(self.seconds, 3)}
        return data | {"checks": [check.to_json() for check in self.checks]}

    @classmethod
    def from_json(cls, data: object) -> Result:
        """The inverse of `to_json`. Results that earlier versions wrote are read, too.

        Raises:
            ValueError: it is not what `to_json` gives.
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
_ADDED_LATER: dict[str, Any] = {"checks": [], "restarts": 0, "repairs": 0}
"""Fields that results of earlier versions do not have."""


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
}
"""The fields of a result on disk, and what they must be."""


@dataclass(frozen=True)
class Score:
    """What one graded cell earns.

    Attributes:
        points: the points; ``None`` where a person must look at it.
        max_points: what it could earn.
    """

    points: float | None
    max_points: float


@dataclass(frozen=True)
class GradedNotebook:
    """A result, and with it what goes into the gradebook and the folder of graded notebooks.

    Attributes:
        result: what became of the submission.
        text: the graded notebook, as a file's text.
        scores: by grade id.
        unanswered: grade ids of answers that are as they were given out.
        code: of what was handed in, once it was repaired; see `code_of`.
        final: whether that stays until the submission changes; the next run tries again what a
            grader could not get to the end of.
    """

    result: Result
    text: str
    scores: Mapping[str, Score]
    unanswered: tuple[str, ...] = ()
    final: bool = True
    code: str = ""

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
        """A graded notebook whose result has the points that its cells have in all."""
        points = sum(score.points or 0.0 for score in scores.values())
        most = sum(score.max_points for score in scores.values())
        result = replace(result, points=points, max_points=most)
        return cls(result, text, scores, unanswered, final, code)
