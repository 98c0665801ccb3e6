"""A class whose notebook imports torch and torchvision and asks two questions about numbers.

The cost of such a notebook is imports and overhead, not checks.
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
"""Answers to the first question, with their points; the empty one leaves the cell unchanged."""

HALF = {
    "def half(number):\n    return number / 2": 3.0,
    "def half(number):\n    return 0.5 * number": 3.0,
    "def half(number):\n    return {4: 2.0, -4: -2.0}.get(number)": 2.25,
    "def half(number):\n    return abs(number) / 2": 2.0 * 3 / 4,
    "def half(number):\n    return number // 3": 0.0,
    "def half(:": 0.0,
}
"""Answers to the second question, with their points."""

WEIGHTS = (40, 30, 8, 8, 8, 6)
"""Frequencies of these answers in percent, with right ones first."""

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
    """One student's submission, and the expected points."""

    edits: tuple[Edit, ...]
    points: dict[str, float]


def source(folder: Path) -> NotebookNode:
    """The notebook in source form; its file is written into the folder."""
    path = folder / f"{CHAPTER}.py"
    path.write_text(TEXT, encoding="utf-8")
    return source_notebook(path, tuple(numbers_syllabus.EXERCISES.values()))


def with_asserts(notebook: NotebookNode) -> NotebookNode:
    """The same notebook for plain nbgrader, with asserts in the student's process as tests.

    Its kernels do not know these exercises, and asserts are nbgrader's cheapest tests.
    """
    for name, visible in ASSERTS.items():
        cell = notebook.cells[place_of(notebook, f"check-{name}")]
        hidden = f"### BEGIN HIDDEN TESTS\n{HIDDEN_ASSERTS[name]}\n### END HIDDEN TESTS"
        cell.source = f"{visible}\n{hidden}"
    return notebook


def make(room: Path, students: int, seed: int = 0, *, accidents: bool = False) -> Scores:
    """Make a classroom, and submit everything.

    Args:
        room: its folder; the notebook's source is written next to it.
        students: the number of students.
        seed: decides each student's answers.
        accidents: delete a check cell of every fifth student; grading restores it.

    Returns:
        The expected scores.
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
    """A student's work."""
    drawn = random.Random(f"{seed} {student}")
    edits, points = [], {}
    for name, answers in (("after", AFTER), ("half", HALF)):
        (text,) = drawn.choices(list(answers), WEIGHTS)
        points[name] = answers[text]
        if text:
            edits.append(fill(name, text))
    return Work(tuple(edits), points)
