"""A classroom that is made quickly, and graders that run nothing.

A notebook contains the points that it earns, so tests of everything around grading are fast.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.submission.contract import GradingConfig, Submission
from autograder.submission.result import GradedNotebook, Result, Score, SubmissionStatus

ONE, TWO = "01_one", "02_two"
CELLS = {ONE: {"check-after": 6.0, "check-half": 4.0}, TWO: {"check-twice": 10.0}}
"""The graded cells of each chapter, with their full marks."""

WRITTEN = "why"
"""An answer of chapter `TWO` that a person grades, for five points."""

_CONFIG = """\
from autograder.classroom.config import configure
c = get_config()
c.CourseDirectory.course_id = "class"
configure(c)
c.ExecuteChecks.secret = "secret"
"""


def make(room: Path, more: str = "") -> Path:
    """Make a classroom with two chapters.

    Args:
        room: the folder.
        more: further lines of its configuration.
    """
    room.mkdir(parents=True)
    (room / "nbgrader_config.py").write_text(_CONFIG + more, encoding="utf-8")
    with gradebook(room) as book:
        for chapter, cells in CELLS.items():
            book.add_assignment(chapter)
            book.add_notebook(chapter, chapter)
            for name, points in cells.items():
                kept: dict[str, Any] = {"cell_type": "code", "source": "check(x)", "locked": True}
                book.add_source_cell(name, chapter, chapter, checksum="0", **kept)
                book.add_grade_cell(name, chapter, chapter, max_score=points, cell_type="code")
        book.add_source_cell(WRITTEN, TWO, TWO, cell_type="markdown", source="", checksum="0")
        book.add_grade_cell(WRITTEN, TWO, TWO, max_score=5.0, cell_type="markdown")
        book.add_solution_cell(WRITTEN, TWO, TWO)
    return room


def gradebook(room: Path) -> Gradebook:
    """The gradebook of a classroom, open."""
    return Gradebook(f"sqlite:///{room / 'gradebook.db'}", "class")


def text_of(chapter: str, more: str = "", **points: float | None) -> str:
    """The text of a notebook that earns these points; the names are exercises."""
    cells = [
        {
            "cell_type": "code",
            "source": f"{name}  # {more}",
            "outputs": [],
            "execution_count": None,
            "metadata": {"nbgrader": {"grade_id": name, "grade": True}},
        }
        for name in CELLS[chapter]
    ]
    earned = {f"check-{name}": value for name, value in points.items()}
    nb = {"cells": cells, "metadata": {"earns": earned}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(nb)


def hand_in(room: Path, student: str, chapter: str = ONE, at: str = "", **points: Any) -> Path:
    """Submit a notebook that earns these points."""
    path = room / "submitted" / student / chapter / f"{chapter}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(chapter, **points), encoding="utf-8")
    if at:
        stamp(room, student, at, chapter)
    return path


def stamp(room: Path, student: str, at: str, chapter: str = ONE) -> None:
    """Set the time of a student's submission."""
    path = room / "submitted" / student / chapter / "timestamp.txt"
    path.write_text(at, encoding="utf-8")


def due(room: Path, when: str | None, chapter: str = ONE) -> None:
    """Set a due date, as Formgrader does; times without a zone are UTC."""
    with gradebook(room) as book:
        book.update_or_create_assignment(chapter, duedate=when)


def penalties(room: Path, chapter: str = ONE) -> dict[str, float]:
    """The late penalties in the gradebook, by student."""
    with gradebook(room) as book:
        found = book.assignment_submissions(chapter)
        return {one.student_id: one.late_submission_penalty for one in found}


def scores(room: Path, chapter: str = ONE) -> dict[str, float]:
    """The scores in the gradebook before penalties, by student."""
    with gradebook(room) as book:
        return {one.student_id: one.score for one in book.assignment_submissions(chapter)}


def use_stubs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make grading read the points from the notebooks, without a sandbox."""
    monkeypatch.setattr("autograder.classroom.grading.run.grade_in_parallel", grade_at_once)
    monkeypatch.setattr("autograder.classroom.grading.plan.choose", lambda _: None)


def grade_at_once(
    submissions: Iterable[Submission], config: GradingConfig, jobs: int, **more: Any
) -> Iterator[GradedNotebook]:
    """Give each submission the points in its notebook."""
    for one in submissions:
        text = (one.text or b"{}").decode()
        earned = json.loads(text).get("metadata", {}).get("earns", {})
        cells = {c.name: c.points or 0.0 for c in config.source_cells.values() if c.grade}
        scores = {name: Score(earned.get(name, 0.0), most) for name, most in cells.items()}
        if WRITTEN in scores:
            scores[WRITTEN] = Score(earned.get(f"check-{WRITTEN}"), 5.0)
        refused = one.text is None
        status = SubmissionStatus.REFUSED if refused else SubmissionStatus.GRADED
        result = Result(one.student, config.chapter, status, notes=one.notes, seconds=0.1)
        yield GradedNotebook.of(result, text, scores)
