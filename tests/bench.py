"""How long a check takes, beside an import of torch in the same run (`make bench`)."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections import defaultdict

from rich.console import Console
from rich.table import Table

from autograder.learner import verdict_on
from autograder.syllabus import EXERCISES
from tests.answers import all_answers

REPEATS = 3


def import_seconds() -> float:
    """Median seconds of ``import torch`` in a fresh process."""
    program = "import time; t = time.perf_counter(); import torch; print(time.perf_counter() - t)"
    return statistics.median(
        float(subprocess.check_output([sys.executable, "-c", program], text=True))
        for _ in range(REPEATS)
    )


def check_seconds() -> dict[str, list[float]]:
    """Seconds of checking each right answer of the exam, in this warm process."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for answer in all_answers():
        if answer.finding is None and answer.exercise in EXERCISES:
            exercise = EXERCISES[answer.exercise]
            verdict_on(exercise, answer.write, hidden=False)
            for _ in range(REPEATS):
                start = time.perf_counter()
                verdict_on(exercise, answer.write, hidden=False)
                seconds[answer.exercise].append(time.perf_counter() - start)
    return seconds


def main() -> None:
    """Print one row an exercise, then the figures for the whole course."""
    unit = import_seconds()
    seconds = check_seconds()
    table = Table("exercise", "cases", "median s", "of an import", title="Checks, right answers")
    for name, values in seconds.items():
        median = statistics.median(values)
        cases = str(len(EXERCISES[name].visible_cases()))
        table.add_row(name, cases, f"{median:.3f}", f"{median / unit:.2f}")
    console = Console()
    console.print(table)
    everything = sorted(value for values in seconds.values() for value in values)
    median, slow = statistics.median(everything), everything[int(0.95 * (len(everything) - 1))]
    console.print(f"import torch: {unit:.2f} s")
    console.print(f"median check: {median:.3f} s = {median / unit:.2f} of an import (aim: 0.25)")
    console.print(f"95th percentile: {slow:.3f} s = {slow / unit:.2f} of an import (aim: 1.00)")


if __name__ == "__main__":
    main()
