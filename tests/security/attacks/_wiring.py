"""The one place that knows how a class is graded; if that changes, it changes here."""

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
"""Less patience than with a class: many attacks do nothing but use it up."""


class Row(NamedTuple):
    """What grading says of one submission."""

    student: str
    chapter: str
    status: str
    notes: str
    seconds: float


def grade(
    room: Path, jobs: int, say: Callable[[str], None], within: float, rows: list[Row]
) -> None:
    """Grade everything that was handed in, in the box; each row is added as it comes.

    Raises:
        TimeoutError: the batch stood still, or took longer than so many seconds.
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
