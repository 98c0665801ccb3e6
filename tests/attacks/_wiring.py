"""The one place that knows how a class is graded; if that changes, it changes here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """What grading says of one submission."""

    student: str
    chapter: str
    status: str
    notes: str


def grade(room: Path, jobs: int, say: Callable[[str], None]) -> list[Row]:
    """Grade everything that was handed in, in the box."""
    from autograder.classroom.grading import grade_class

    summary = grade_class(room, jobs=jobs, sandbox=True, say=say)
    return [
        Row(row.student, row.chapter, row.status, "\n".join(map(str, row.notes or ())))
        if not isinstance(row.notes, str)
        else Row(row.student, row.chapter, row.status, row.notes)
        for row in summary.rows
    ]
