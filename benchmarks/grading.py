"""Measures the grading speed of a class, relative to stock nbgrader in the same run.

Each workload is graded four times: its first submissions by nbgrader with its default settings, and
all of them by ``fxcourse grade`` in a sandbox: on one core, with one grader, and with two.
Rates are given with start-up, and steady: from a submission in the middle to the last one.

nbgrader gives a check all of its points or none. So full points are compared with full points, and
partial points here with its zero; in addition, every score here is compared with the known score of
the answer.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook
from rich.console import Console
from rich.table import Table

from autograder.classroom.setup.create import choose
from tests.support.classes import commands, course, stock, two_questions
from tests.support.classes.course import Scores
from tests.support.numbers import numbers_syllabus
from tests.support.submissions import room as rooms

TWO_QUESTIONS = int(os.environ.get("BENCH_TWO_QUESTIONS", "200"))
"""Submissions of the small notebook."""

CHAPTER_WORKS = int(os.environ.get("BENCH_CHAPTER_WORKS", "60"))
"""Submissions of each chapter."""

CHAPTERS = os.environ.get("BENCH_CHAPTERS", "00,02,03")
"""The chapters; none if empty."""

STOCK = int(os.environ.get("BENCH_STOCK", "6"))
"""Number of these submissions that nbgrader grades too."""

START = 20
"""Number of submissions before the rate counts as steady."""


@dataclass(frozen=True)
class Way:
    """A way of running ``fxcourse grade``."""

    name: str
    jobs: int
    one_core: bool = False


WAYS = (Way("held to one core", 1, one_core=True), Way("-j 1", 1), Way("-j 2", 2))


@dataclass(frozen=True)
class Workload:
    """A class that submits one chapter.

    Attributes:
        name: its name in the table.
        chapter: the chapter.
        room: the classroom, not graded yet.
        scores: the expected scores.
        stock_source: the notebook for nbgrader.
    """

    name: str
    chapter: str
    room: Path
    scores: Scores
    stock_source: NotebookNode


@dataclass(frozen=True)
class Rate:
    """The time of grading, in seconds for one submission.

    Attributes:
        whole: from the command to its end.
        steady: from the end of the start-up to the last submission.
    """

    whole: float
    steady: float


def rate(room: Path, chapter: str, seconds: float, start: int = START) -> Rate:
    """The rate of a run that has ended."""
    times = commands.finished(room, chapter)
    first = min(start, max(1, len(times) // 2)) - 1
    left = len(times) - 1 - first
    steady = (times[-1] - times[first]) / left if left else float("nan")
    return Rate(seconds / len(times), steady)


def two_questions_class(folder: Path, students: int = TWO_QUESTIONS) -> Workload:
    """The small notebook; nbgrader's tests of it are plain asserts."""
    room = folder / "class"
    scores = two_questions.make(room, students)
    source = two_questions.with_asserts(two_questions.source(folder))
    return Workload("two questions", numbers_syllabus.CHAPTER, room, scores, source)


def chapter_class(folder: Path, number: str) -> Workload:
    """A chapter of the course; nbgrader's kernels run ``check`` itself."""
    room = folder / "class"
    scores = course.make(room, number, CHAPTER_WORKS)
    (chapter,) = scores
    return Workload(chapter, chapter, room, scores, choose(number)[chapter])


@dataclass(frozen=True)
class Compared:
    """The number of equal scores, and the number of those compared."""

    agree: int
    count: int

    def __str__(self) -> str:
        return f"{self.agree} of {self.count}"


def with_known(room: Path, scores: Scores) -> Compared:
    """Compare the scores in a gradebook with the known ones."""
    count, wrong = course.differences(room, scores)
    return Compared(count - len(wrong), count)


def with_stock(ours: Path, theirs: Path, chapter: str) -> tuple[Compared, list[str]]:
    """Compare full points in two gradebooks; return the counts and the differences."""
    got, stocks = rooms.points(ours, chapter), rooms.points(theirs, chapter)
    full = _most(theirs, chapter)
    count, wrong = 0, []
    for student, points in stocks.items():
        for name, there in points.items():
            here = got.get(student, {}).get(name)
            count += 1
            if _is_full(here, full[name]) != _is_full(there, full[name]):
                wrong.append(f"{student}, {name}: {here} here, {there} by nbgrader")
    return Compared(count - len(wrong), count), wrong


def _is_full(points: float | None, most: float) -> bool:
    return points is not None and abs(points - most) < 1e-6


def _most(room: Path, chapter: str) -> dict[str, float]:
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as book:
        cells = book.find_notebook(chapter, chapter).grade_cells
        return {cell.name.removeprefix("check-"): cell.max_score for cell in cells}


def throughput(console: Console) -> None:
    """Print a table of workloads and ways of grading, with their rates and equal scores."""
    table = Table(
        "workload", "graded by", "works", "s each", "s each, steady", "ratio", "ratio, steady",
        "as known", "as nbgrader", title="Grading a class, the box on, and with stock nbgrader",
    )  # fmt: skip
    complaints: list[str] = []
    for make in _workloads():
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            workload = make(Path(folder))
            console.print(f"grading {workload.name} ...")
            complaints += _add_rows(table, workload, Path(folder))
    console.print(table)
    console.print("ratio: seconds of nbgrader by seconds here (aim: 20 on one core, 40 on two)")
    for words in complaints[:20]:
        console.print(f"  {words}", markup=False)


def _workloads() -> list[Callable[[Path], Workload]]:
    numbers = [number.strip() for number in CHAPTERS.split(",") if number.strip()]
    chapters = [lambda folder, n=number: chapter_class(folder, n) for number in numbers]
    return [*([two_questions_class] if TWO_QUESTIONS else []), *chapters]


def _add_rows(table: Table, workload: Workload, folder: Path) -> list[str]:
    """Grade a workload in every way; return the unexpected differences."""
    chapter, theirs = workload.chapter, folder / "stock"
    count = min(STOCK, sum(map(len, workload.scores.values())))
    stock.make(theirs, chapter, workload.stock_source, workload.room, count)
    unit = rate(theirs, chapter, stock.grade(theirs, chapter), start=1)
    table.add_row(
        workload.name, "nbgrader", str(count), f"{unit.whole:.2f}", f"{unit.steady:.2f}", "1", "1"
    )
    complaints = []
    for way in WAYS:
        room = Path(shutil.copytree(workload.room, folder / "graded" / "class"))
        seconds = commands.grade(room, way.jobs, one_core=way.one_core)
        found = rate(room, chapter, seconds)
        known = with_known(room, workload.scores)
        same, wrong = with_stock(room, theirs, chapter)
        complaints += [f"{workload.name}, {way.name}: {words}" for words in wrong]
        table.add_row(
            "", way.name, str(len(commands.finished(room, chapter))),
            f"{found.whole:.3f}", f"{found.steady:.3f}",
            f"{unit.whole / found.whole:.1f}", f"{unit.steady / found.steady:.1f}",
            str(known), str(same),
        )  # fmt: skip
        shutil.rmtree(room.parent)
    return complaints
