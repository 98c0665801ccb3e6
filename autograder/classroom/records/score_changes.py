"""Differences between the scores before and after a dry run, with reasons."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nbgrader.api import Gradebook

from autograder.submission.source_cells import CHECK


@dataclass(frozen=True)
class Standing:
    """A gradebook's record of a submission's score.

    Attributes:
        score: the points that it earned.
        penalty: the points taken off for lateness.
        cells: the points of each graded cell; ``None`` if a person has to give them.
    """

    score: float = 0.0
    penalty: float = 0.0
    cells: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """The score minus the penalty."""
        return max(0.0, self.score - self.penalty)


@dataclass(frozen=True)
class ScoreChange:
    """A submission whose score a run changes.

    Attributes:
        student: the student's id.
        chapter: the chapter.
        before: the current score; ``None`` if it has no grade.
        after: the score that it would have.
        why: the reasons, in words.
    """

    student: str
    chapter: str
    before: float | None
    after: float
    why: str


Standings = Mapping[tuple[str, str], Standing]


def standings(book: Gradebook) -> dict[tuple[str, str], Standing]:
    """The scores of a gradebook's submissions, by student and chapter."""
    found = {}
    for assignment in book.assignments:
        for one in book.assignment_submissions(assignment.name):
            cells = {
                grade.name: grade.score if _has_points(grade) else None
                for notebook in one.notebooks
                for grade in notebook.grades
            }
            if any(points is not None for points in cells.values()):
                found[one.student_id, assignment.name] = Standing(
                    one.score, one.late_submission_penalty or 0.0, cells
                )
    return found


def _has_points(grade: object) -> bool:
    given = getattr(grade, "auto_score", None), getattr(grade, "manual_score", None)
    return any(points is not None for points in given)


def changes(
    before: Standings, after: Standings, why: Callable[[str, str], str]
) -> list[ScoreChange]:
    """The submissions whose score, or its composition, would change.

    Args:
        before: the current scores.
        after: the scores that the run would write.
        why: returns the reason why a student's chapter was graded; may return an empty string.
    """
    found = []
    for (student, chapter), new in sorted(after.items()):
        old = before.get((student, chapter))
        if old == new:
            continue
        said = [why(student, chapter), *_in_words(old or Standing(), new)]
        total = old.total if old else None
        reasons = "; ".join(filter(None, said))
        found.append(ScoreChange(student, chapter, total, new.total, reasons))
    return found


def _in_words(old: Standing, new: Standing) -> list[str]:
    said = []
    for name, points in new.cells.items():
        was = old.cells.get(name)
        if old.cells and was != points:
            said.append(f"{name.removeprefix(CHECK)} {_points(was)} -> {_points(points)}")
    if not math.isclose(old.penalty, new.penalty, abs_tol=1e-9):
        said.append(f"off for being late {old.penalty:.4g} -> {new.penalty:.4g}")
    return said


def _points(points: float | None) -> str:
    return "waits" if points is None else f"{points:.4g}"
