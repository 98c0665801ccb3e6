"""Measures the time of a check, relative to an import of torch in the same run.

Each chapter has a process of its own, as in JupyterLab; before each one, an import of torch is
timed.
"""

from __future__ import annotations

import multiprocessing
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace

from rich.console import Console
from rich.table import Table

from autograder.api import verdict_on
from autograder.core.exercise import Exercise
from autograder.exercises import EXERCISES, of_chapter
from tests.exercises import answers_to

REPEATS = 3
ANSWERS = 3
"""Number of right answers timed for each exercise."""


def import_seconds() -> float:
    """Seconds of ``import torch`` in a new process."""
    program = "import time; t = time.perf_counter(); import torch; print(time.perf_counter() - t)"
    return float(subprocess.check_output([sys.executable, "-c", program], text=True))


@dataclass
class Times:
    """Seconds of an exercise's check, and the number of cases that it tries."""

    exercise: str
    cases: int
    whole: list[float] = field(default_factory=list)
    without_random: list[float] = field(default_factory=list)


def times_of(chapter: str) -> list[Times]:
    """Time the checks of a chapter's right answers; for a process of its own."""
    found = []
    for exercise in of_chapter(chapter):
        name = exercise.name
        row = Times(name, len(exercise.visible_cases()))
        right = [answer for answer in answers_to(name) if answer.finding is None]
        for answer in right[:ANSWERS]:
            row.whole += seconds_of(exercise, answer.write)
            if exercise.random:
                without = replace(exercise, random=None)
                row.without_random += seconds_of(without, answer.write)
        found.append(row)
    return found


def seconds_of(exercise: Exercise, answer: object) -> list[float]:
    """Time the checks of an answer, in this warm process."""
    verdict_on(exercise, answer, hidden=False)
    found = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        verdict_on(exercise, answer, hidden=False)
        found.append(time.perf_counter() - start)
    return found


def report(console: Console) -> None:
    """Print one row for each exercise, then the figures for the whole course."""
    imports, rows = [], []
    with ProcessPoolExecutor(
        1, mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        for chapter in dict.fromkeys(each.chapter for each in EXERCISES.values()):
            imports.append(import_seconds())
            rows += pool.submit(times_of, chapter).result()
    unit = statistics.median(imports)
    table = Table(
        "exercise", "cases", "median s", "without random", "of an import",
        title="Checks of right answers in a warm process",
    )  # fmt: skip
    for row in rows:
        median = statistics.median(row.whole)
        less = f"{statistics.median(row.without_random):.3f}" if row.without_random else "-"
        cases = str(row.cases)
        table.add_row(row.exercise, cases, f"{median:.3f}", less, f"{median / unit:.2f}")
    console.print(table)
    everything = sorted(value for row in rows for value in row.whole)
    median, slow = statistics.median(everything), everything[int(0.95 * (len(everything) - 1))]
    spread = f"{min(imports):.2f} to {max(imports):.2f}"
    console.print(f"import torch: {unit:.2f} s, median of {len(imports)} ({spread})")
    console.print(f"median check: {median:.3f} s = {median / unit:.2f} of an import (aim: 0.25)")
    console.print(f"95th percentile: {slow:.3f} s = {slow / unit:.2f} of an import (aim: 1.00)")
