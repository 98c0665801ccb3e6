"""A class whose notebook imports torch and torchvision and asks two questions about numbers.

What such a notebook costs is the import and the machinery, not the checks.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from autograder.builder import source_notebook
from autograder.classroom.setup.create import create
from tests.support.classes.course import Scores, names
from tests.support.numbers import numbers_room, numbers_syllabus
from tests.support.numbers.numbers_syllabus import CHAPTER
from tests.support.submissions import room as rooms
from tests.support.submissions.edits import Edit, delete, edited, fill, place_of

TEXT = numbers_room.TEXT.replace("import math", "import torch\nimport torchvision")

AFTER = {
    "def after(number):\n    return number + 1 if number >= 0 else number - 1": 6.0,
    "def after(number):\n    step = 1 if number >= 0 else -1\n    return number + step": 6.0,
    "def after(number):\n    return number + 1": 4.0,
    "def after(number):\n    return {1: 2, -1: -2}[number]": 0.0,
    "def after(number):\n    return number.next": 0.0,
    "": 0.0,
}
"""Answers to the first question, and what they get; nothing is written for the empty one."""

HALF = {
    "def half(number):\n    return number / 2": 3.0,
    "def half(number):\n    return 0.5 * number": 3.0,
    "def half(number):\n    return {4: 2.0, -4: -2.0}.get(number)": 2.25,
    "def half(number):\n    return abs(number) / 2": 2.0 * 3 / 4,
    "def half(number):\n    return number // 3": 0.0,
    "def half(:": 0.0,
}
"""Answers to the second question, and what they get."""

WEIGHTS = (40, 30, 8, 8, 8, 6)
"""How often each of them is chosen, of a hundred: right ones come first."""

ASSERTS = {
    "after": "assert after(1) == 2\nassert after(-1) == -2",
    "half": "assert half(4) == 2.0\nassert half(-4) == -2.0",
}
HIDDEN_ASSERTS = {
    "after": "assert after(9) == 10",
    "half": "assert [half(n) for n in (7.0, 8.0, 9.0)] == [3.5, 4.0, 4.5]",
}


@dataclass(frozen=True)
class Work:
    """What a student hands in, and what it must get."""

    edits: tuple[Edit, ...]
    points: dict[str, float]


def source(folder: Path) -> NotebookNode:
    """The notebook in source form; its file is written into a folder."""
    path = folder / f"{CHAPTER}.py"
    path.write_text(TEXT, encoding="utf-8")
    return source_notebook(path, tuple(numbers_syllabus.EXERCISES.values()))


def with_asserts(notebook: NotebookNode) -> NotebookNode:
    """The same in nbgrader's plain style: the tests are asserts in the student's Python.

    Its kernels do not know these exercises, and asserts are what costs nbgrader least.
    """
    for name, visible in ASSERTS.items():
        cell = notebook.cells[place_of(notebook, f"check-{name}")]
        hidden = f"### BEGIN HIDDEN TESTS\n{HIDDEN_ASSERTS[name]}\n### END HIDDEN TESTS"
        cell.source = f"{visible}\n{hidden}"
    return notebook


def make(room: Path, students: int, seed: int = 0, *, accidents: bool = False) -> Scores:
    """Make a classroom, and hand everything in.

    Args:
        room: where; beside it, the notebook's source is written.
        students: how many there are.
        seed: decides who answers what.
        accidents: every fifth student has deleted a check cell, which is put back.

    Returns:
        What everybody must get.
    """
    room.parent.mkdir(parents=True, exist_ok=True)
    create(room, {CHAPTER: source(room.parent)})
    with (room / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(f"\nc.ExecuteChecks.syllabus = {numbers_syllabus.__name__!r}\n")
    released = rooms.released(room, CHAPTER)
    scores = {}
    for number, student in enumerate(names(students)):
        work = work_of(student, seed)
        lost = (delete("check-half"),) if accidents and number % 5 == 4 else ()
        rooms.hand_in(room, student, CHAPTER, edited(released, *work.edits, *lost))
        scores[student] = work.points
    return {CHAPTER: scores}


def work_of(student: str, seed: int = 0) -> Work:
    """What a student answers."""
    drawn = random.Random(f"{seed} {student}")
    edits, points = [], {}
    for name, answers in (("after", AFTER), ("half", HALF)):
        (text,) = drawn.choices(list(answers), WEIGHTS)
        points[name] = answers[text]
        if text:
            edits.append(fill(name, text))
    return Work(tuple(edits), points)
