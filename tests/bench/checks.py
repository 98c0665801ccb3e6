"""How long a check takes, beside an import of torch in the same run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import replace

from rich.console import Console
from rich.table import Table

from autograder.exercise import Exercise
from autograder.learner import verdict_on
from autograder.syllabus import EXERCISES
from tests.answers import all_answers

REPEATS = 3
ANSWERS = 3
"""How many right answers of an exercise are timed."""


def import_seconds() -> float:
    """Median seconds of ``import torch`` in a fresh process."""
    program = "import time; t = time.perf_counter(); import torch; print(time.perf_counter() - t)"
    return statistics.median(
        float(subprocess.check_output([sys.executable, "-c", program], text=True))
        for _ in range(REPEATS)
    )


def seconds_of(exercise: Exercise, answer: object) -> list[float]:
    """Seconds of checking an answer, in this warm process."""
    verdict_on(exercise, answer, hidden=False)
    found = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        verdict_on(exercise, answer, hidden=False)
        found.append(time.perf_counter() - start)
    return found


def report(console: Console) -> None:
    """Print one row an exercise, then the figures for the whole course."""
    unit = import_seconds()
    whole: dict[str, list[float]] = defaultdict(list)
    picked: dict[str, list[float]] = defaultdict(list)
    for name, exercise in EXERCISES.items():
        right = [a for a in all_answers() if a.exercise == name and a.finding is None]
        for answer in right[:ANSWERS]:
            whole[name] += seconds_of(exercise, answer.write)
            if exercise.random:
                without = replace(exercise, random=None)
                picked[name] += seconds_of(without, answer.write)
    table = Table(
        "exercise", "cases", "median s", "without random", "of an import",
        title="Checks of right answers in a warm process",
    )  # fmt: skip
    for name, values in whole.items():
        median = statistics.median(values)
        less = f"{statistics.median(picked[name]):.3f}" if name in picked else "-"
        cases = str(len(EXERCISES[name].visible_cases()))
        table.add_row(name, cases, f"{median:.3f}", less, f"{median / unit:.2f}")
    console.print(table)
    everything = sorted(value for values in whole.values() for value in values)
    median, slow = statistics.median(everything), everything[int(0.95 * (len(everything) - 1))]
    console.print(f"import torch: {unit:.2f} s")
    console.print(f"median check: {median:.3f} s = {median / unit:.2f} of an import (aim: 0.25)")
    console.print(f"95th percentile: {slow:.3f} s = {slow / unit:.2f} of an import (aim: 1.00)")
