"""Reads the wrong answers of a chapter from the journal and the gradebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import (
    Assignment,
    BaseCell,
    Grade,
    Gradebook,
    GradeCell,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import select

from autograder.classroom.records.journal import JOURNAL, Journal
from autograder.submission.check_result import CheckResult
from autograder.submission.source_cells import CHECK

WRONG = ("failed", "crashed", "not judged")
"""The statuses of answers that get into a group."""


@dataclass(frozen=True)
class WrongAnswer:
    """A student's wrong answer to an exercise.

    Attributes:
        student: the student's id.
        check: its recorded verdict.
    """

    student: str
    check: CheckResult

    @property
    def code(self) -> str:
        """The code of the finding that the student sees first."""
        return self.check.findings[0].code if self.check.findings else self.check.status

    @property
    def message(self) -> str:
        """The first finding in words; empty if there is none."""
        return self.check.findings[0].message if self.check.findings else ""


def wrong_answers(room: Path, gradebook: Gradebook, chapter: str) -> Iterator[WrongAnswer]:
    """Yield the wrong answers of a chapter, without those that another grader has graded since."""
    scores = _scores(gradebook, chapter)
    for result in Journal(room / JOURNAL).results():
        for check in result.checks if result.chapter == chapter else ():
            score = scores.get((result.student, check.exercise))
            if check.status in WRONG and score is not None and _agrees(check, *score):
                yield WrongAnswer(result.student, check)


def _agrees(check: CheckResult, most: float, score: float | None) -> bool:
    return score is None or abs(check.score * most - score) < 1e-6


def _scores(
    gradebook: Gradebook, chapter: str
) -> dict[tuple[str, str], tuple[float, float | None]]:
    """Full marks and automatic points in the gradebook, by student and exercise."""
    cells, names = GradeCell.__table__, BaseCell.__table__
    query = (
        select(SubmittedAssignment.student_id, names.c.name, cells.c.max_score, Grade.auto_score)
        .select_from(Grade.__table__)
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.__table__.c.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(names, names.c.id == Grade.__table__.c.cell_id)
        .join(cells, cells.c.id == Grade.__table__.c.cell_id)
        .where(Assignment.name == chapter)
    )
    return {
        (student, name.removeprefix(CHECK)): (most, score)
        for student, name, most, score in gradebook.db.execute(query)
    }
