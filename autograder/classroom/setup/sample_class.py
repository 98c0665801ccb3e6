"""Makes a sample class for trying out grading: one chapter, six submissions, and known points."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.builder.solution_regions import without_markers
from autograder.classroom.room.private import private
from autograder.classroom.setup.create import choose, create
from autograder.classroom.setup.sample_hand_ins import CHAPTER, HAND_INS, POINTS, RIGHT, HandIn
from autograder.submission.source_cells import CHECK, grade_id


def make(folder: Path, say: Callable[[str], None] = lambda text: None) -> None:
    """Make the sample class, completely or not at all.

    Args:
        folder: a new folder, or an empty one.
        say: called with a line about each step.

    Raises:
        ClassroomError: the folder is not empty, or the class could not be made.
    """
    create(folder, choose(CHAPTER), say)
    room = folder.expanduser().resolve()
    solutions = {grade_id(cell): cell.source for cell in _read(room, "source").cells}
    released = _read(room, "release")
    for one in HAND_INS:
        place = room / "submitted" / one.student / CHAPTER
        with private():
            place.mkdir(parents=True)
            text = nbformat.writes(_notebook(released, one, solutions))
            (place / f"{CHAPTER}.ipynb").write_text(text, encoding="utf-8", newline="\n")


def _read(room: Path, step: str) -> NotebookNode:
    path = room / step / CHAPTER / f"{CHAPTER}.ipynb"
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    return notebook


def _notebook(
    released: NotebookNode, one: HandIn, solutions: dict[str | None, str]
) -> NotebookNode:
    """The released notebook after a student's work on it."""
    notebook = copy.deepcopy(released)
    for cell in notebook.cells:
        name = grade_id(cell)
        if cell.cell_type == "code" and name and not name.startswith(CHECK):
            answer = one.answers.get(name, RIGHT)
            cell.source = without_markers(solutions[name]) if answer == RIGHT else answer
    return _damaged(notebook) if one.damaged else notebook


def _damaged(notebook: NotebookNode) -> NotebookNode:
    """A notebook without one check cell, with one answer split in two, and one without metadata."""
    kept = []
    for cell in notebook.cells:
        name = grade_id(cell)
        if name == f"{CHECK}count_ops":
            continue
        kept.append(cell)
        if name == "inputs_of":
            cell.metadata.clear()
        if name == "dead_nodes":
            *first, last = cell.source.split("\n")
            cell.source = "\n".join(first)
            kept.append(new_code_cell(last, metadata=copy.deepcopy(cell.metadata)))
    notebook.cells = kept
    return notebook


def lines() -> Iterator[str]:
    """A line for each submission: the student, its special feature, and its points."""
    width = max(len(one.about) for one in HAND_INS)
    for one in HAND_INS:
        points = f"{sum(one.points.values()):g} of {sum(POINTS.values()):g} points"
        yield f"{one.student:4}  {one.about:{width}}  {points}"
