"""The one place that knows how a class is graded; if that changes, it changes here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

SHORT = {
    "cell_cpu": 10.0,
    "cell_wall": 25.0,
    "case_cpu": 3.0,
    "case_wall": 10.0,
    "trial": 60.0,
    "notebook": 300.0,
}
"""Less patience than with a class: many attacks do nothing but use it up."""


class Row(NamedTuple):
    """What grading says of one submission."""

    student: str
    chapter: str
    status: str
    notes: str


def grade(room: Path, jobs: int, say: Callable[[str], None]) -> list[Row]:
    """Grade everything that was handed in, in the box."""
    from autograder.classroom.grading import grade_class
    from autograder.classroom.report import line_about

    summary = grade_class(
        room, jobs=jobs, settings=SHORT, say=lambda row, done, count: say(line_about(row))
    )
    return [Row(r.student, r.chapter, r.status, "\n".join(r.notes)) for r in summary.rows]
