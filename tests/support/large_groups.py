"""A large class whose answers have common mistakes, with graded notebooks of a usual size."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

from autograder.submission.check_result import CheckResult, KeptFinding
from tests.support import simulated_class

STUDENTS = 500
CHAPTER = simulated_class.CHAPTERS[0]
NUMBER_OF_EXERCISES, MISTAKES, NUMBER_OF_CASES = 6, 14, 24
_CARD = "<div>" + "<span style='color:var(--ink)'>a picture of a graph</span>" * 300 + "</div>"


def make(room: Path) -> Path:
    """Make the class: 14 mistakes in each exercise, some common, in nine of ten answers."""
    draw = random.Random(5)
    simulated = simulated_class.simulate(seed=3, students=STUDENTS)
    items = [item for item in simulated.items if item.chapter == CHAPTER][:NUMBER_OF_EXERCISES]
    mistakes = {
        item.name: [
            tuple(
                (f"c{case:02}", f"code-{place % 5}")
                for case in sorted(draw.sample(range(NUMBER_OF_CASES), draw.randrange(1, 9)))
            )
            for place in range(MISTAKES)
        ]
        for item in items
    }
    results = []
    for result in simulated.results:
        if result.chapter == CHAPTER:
            checks = tuple(_check(draw, name, those) for name, those in mistakes.items())
            results.append(replace(result, checks=checks))
    room = simulated_class.write(
        room, replace(simulated, items=tuple(items), results=tuple(results))
    )
    for result in results:
        _write_notebook(room, result.student, [check.exercise for check in result.checks])
    return room


def _check(
    draw: random.Random, name: str, mistakes: list[tuple[tuple[str, str], ...]]
) -> CheckResult:
    if draw.random() < 0.1:
        return CheckResult(name, "passed", 1.0)
    weights = [1 / (rank + 1) for rank in range(len(mistakes))]
    fails = dict(row for those in draw.choices(mistakes, weights, k=1 + (draw.random() < 0.1))
                 for row in those)  # fmt: skip
    code = next(iter(fails.values()))
    found = KeptFinding(code, f"`{name}` is wrong: {code}.")
    return CheckResult(name, "failed", 0.0, (found,), tuple(fails.items()))


def _write_notebook(room: Path, student: str, exercises: list[str]) -> None:
    cells = []
    for name in exercises:
        source = f"def {name}(model):\n" + "    model = model  # a line\n" * (len(student) + 20)
        data = {"text/html": _CARD, "text/plain": "✗ Failed\n" * 20}
        card = {"output_type": "display_data", "metadata": {}, "data": data}
        cells.append({"source": source, "metadata": {"nbgrader": {"grade_id": name}}})
        check = {"nbgrader": {"grade_id": f"check-{name}"}}
        cells.append({"source": "", "metadata": check, "outputs": [card]})
    path = room / "autograded" / student / CHAPTER / f"{CHAPTER}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
