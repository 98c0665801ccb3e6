"""The attacks' only interface to grading a class."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

SHORT = {
    "cell_cpu": 10.0,
    "cell_wall": 25.0,
    "case_cpu": 8.0,
    "case_wall": 25.0,
    "trial": 60.0,
    "notebook": 300.0,
}
"""Shorter timeouts than for a class, because many attacks do nothing but wait."""


class Row(NamedTuple):
    """The result of grading one submission."""

    student: str
    chapter: str
    status: str
    notes: str
    seconds: float


def grade(
    room: Path, jobs: int, say: Callable[[str], None], within: float, rows: list[Row]
) -> None:
    """Grade all submissions in the sandbox; add each row to the list when it arrives.

    Raises:
        TimeoutError: the batch made no progress, or took longer than this many seconds.
    """
    from autograder.classroom.grading.grade_class import GradingOptions, Listener, grade_class
    from autograder.cli.grading_progress import line_about

    def too_late(*_: object) -> None:
        for child in multiprocessing.active_children():
            child.kill()
        raise TimeoutError(f"the class was not graded within {within:g} seconds")

    def tell(row: Any, done: int, count: int) -> None:
        notes = "\n".join(row.notes)
        rows.append(Row(row.student, row.chapter, row.status, notes, row.seconds))
        say(line_about(row))

    before = signal.signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, within)
    try:
        grade_class(room, GradingOptions(jobs=jobs, settings=SHORT), Listener(say=tell))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
