"""A small class that is graded in several ways, all of which must give the same points."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
from nbgrader.api import Gradebook

from autograder.builder.paths import ROOT
from autograder.classroom.grading.grade_class import GradingOptions, Summary, grade_class
from autograder.submission.result import Result
from tests.support.numbers import numbers_room, numbers_syllabus
from tests.support.submissions.edits import Edit, add, delete, edited, fill
from tests.support.submissions.room import hand_in, released

CHAPTER = numbers_room.CHAPTER
SETTINGS = {"syllabus": numbers_syllabus.__name__, "cell_cpu": 10.0, "case_cpu": 1.0}
SETTINGS |= {"proof": False}

_AFTER = fill("after", "def after(number):\n    return number + 1 if number >= 0 else number - 1")
_HALF = fill("half", "def half(number):\n    return number / 2")
RIGHT = _AFTER, _HALF
_CLASS: dict[str, list[Edit] | str] = {
    "ann": [_AFTER, _HALF],
    "bo": [_AFTER],
    "cy": [fill("after", "def after(number):\n    return number + 1"), _HALF],
    "di": [_AFTER, _HALF, delete("check-after")],
    "ed": [_AFTER, add("import os; os._exit(1)", below="after"), _HALF],
    "flo": "no notebook",
    "gül": [fill("half", "def half(number):\n    return {4: 2.0, -4: -2.0}.get(number)")],
}
WORTH = {"ann": 9, "bo": 6, "cy": 7, "di": 9, "ed": 9, "flo": 0, "gül": 2.25}
"""Points of each student."""


def hand_all_in(room: Path, times: int = 1) -> None:
    """Submit for the class; `times` copies of it, under names with a number."""
    given = released(room, CHAPTER)
    for name, work in _CLASS.items():
        text = work if isinstance(work, str) else nbformat.writes(edited(given, *work))
        for copy in range(times):
            hand_in(room, f"{name}{copy or ''}", CHAPTER, text)


def grade(room: Path, **options: Any) -> Summary:
    """Grade the class with this chapter's exercises, which graders find on their path."""
    with mock.patch.dict(os.environ, {"PYTHONPATH": str(ROOT)}):
        return grade_class(room, GradingOptions(settings=SETTINGS, **options))


def grade_alike(room: Path, folder: Path, **options: Any) -> Summary:
    """Grade a copy of a classroom that has not been graded."""
    return grade(Path(shutil.copytree(room, folder / "copy")), **options)


def results(summary: Summary) -> dict[str, tuple[str, float, float, tuple[str, ...]]]:
    """Each student's status, points and notes, without the duration."""

    def result(row: Result) -> tuple[str, float, float, tuple[str, ...]]:
        return row.status, row.points, row.max_points, row.notes

    return {row.student: result(row) for row in summary.results}


def kept(address: str) -> dict[str, dict[str, tuple[float | None, bool, str | None]]]:
    """The class's entries in a gradebook: points, grades that need a person, and comments."""
    with Gradebook(address) as book:
        found: dict[str, dict[str, tuple[float | None, bool, str | None]]] = {}
        for submission in book.assignment_submissions(CHAPTER):
            cells = found.setdefault(submission.student_id, {})
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    cells[grade.name] = grade.auto_score, grade.needs_manual_grade, None
                for comment in notebook.comments:
                    cells[f"comment {comment.name}"] = None, False, comment.auto_comment
        return found
