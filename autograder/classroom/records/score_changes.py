"""Whose score a run changes, and why: for a run that is only tried."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nbgrader.api import Gradebook

from autograder.submission.source_cells import CHECK


@dataclass(frozen=True)
class Standing:
    """What a gradebook has for a submission.

    Attributes:
        score: what it earned.
        penalty: what is taken off for being late.
        cells: the points of each graded cell; ``None`` where a person is to give them.
    """

    score: float = 0.0
    penalty: float = 0.0
    cells: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """What it counts."""
        return max(0.0, self.score - self.penalty)


@dataclass(frozen=True)
class ScoreChange:
    """A submission whose score a run changes.

    Attributes:
        student: whose it is.
        chapter: the chapter.
        before: what it counts now; ``None`` where it has no grade.
        after: what it would count.
        why: what has changed, in words.
    """

    student: str
    chapter: str
    before: float | None
    after: float
    why: str


Standings = Mapping[tuple[str, str], Standing]


def standings(book: Gradebook) -> dict[tuple[str, str], Standing]:
    """What a gradebook has for each submission, by student and chapter."""
    found = {}
    for assignment in book.assignments:
        for one in book.assignment_submissions(assignment.name):
            cells = {
                grade.name: grade.score if _is_there(grade) else None
                for notebook in one.notebooks
                for grade in notebook.grades
            }
            if any(points is not None for points in cells.values()):
                found[one.student_id, assignment.name] = Standing(
                    one.score, one.late_submission_penalty or 0.0, cells
                )
    return found


def _is_there(grade: object) -> bool:
    given = getattr(grade, "auto_score", None), getattr(grade, "manual_score", None)
    return any(points is not None for points in given)


def changes(
    before: Standings, after: Standings, why: Callable[[str, str], str]
) -> list[ScoreChange]:
    """The submissions whose score, or what it is made of, is another one afterwards.

    Args:
        before: what was.
        after: what would be.
        why: says for a student and a chapter why it was graded, or nothing.
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
