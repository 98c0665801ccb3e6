"""Plain cells with tests by an instructor, next to the exercises of this course."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook

from autograder.boxed.notebook_cells import is_failed
from autograder.boxed.notebook_run import NotebookRun
from autograder.classroom.setup.create import create
from autograder.sandbox.resource_limits import MIB, Bounds
from autograder.sandbox.walls import why_no_box
from autograder.submission.contract import Timeouts
from autograder.submission.scores import auto_score
from tests.support import graded_class
from tests.support.graded_class import CHAPTER
from tests.support.notebook_boxes import Notebooks
from tests.support.numbers import numbers_room
from tests.support.submissions.edits import Edit, delete, edited, fill
from tests.support.submissions.room import hand_in, released

BOUNDS = Bounds(memory=512 * MIB, disk=8 * MIB, processes=32, cpu=60.0, wall=60.0)
SHORT = Timeouts(cell_cpu=0.5, cell_wall=5.0)

needs_box = pytest.mark.skipif(
    why_no_box() is not None, reason=f"no box on this machine: {why_no_box()}"
)


@pytest.fixture(scope="module")
def warm() -> Iterator[Notebooks]:
    source = Notebooks(BOUNDS)
    yield source
    source.close()


def worked_through(warm: Notebooks, *cells: str) -> tuple[bool, NotebookRun]:
    """Run a notebook; return whether its last cell failed, and the run."""
    nb = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    run = NotebookRun(nb, {}, warm, timeouts=SHORT)
    run.run()
    return is_failed(nb.cells[-1]), run


FIB = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)"
MANY = "from IPython.display import display\nfor i in range(2000): display(i)\nassert False"
HIDES = "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell."
FAIL = {
    "it never ends": (FIB, "assert fib(200) == 5"),
    "it is wrong": (FIB, "assert fib(5) == 4"),
    "it shows more than is kept": (MANY,),
    "errors are not shown": (HIDES + "showtraceback = lambda *a, **k: None", "assert False"),
    "errors cannot be shown": (HIDES + "showtraceback = None", "assert False"),
    "cells are not run": (HIDES + "run_cell = None", "assert False"),
    "running raises": (HIDES + "run_cell_async = None", "assert False"),
    "Python ends": ("import os", "os._exit(0)"),
}


@needs_box
@pytest.mark.parametrize("what", FAIL)
def test_a_test_fails_unless_it_comes_to_its_end(warm: Notebooks, what: str) -> None:
    failed, _ = worked_through(warm, *FAIL[what])
    assert failed


@needs_box
def test_a_test_that_holds_passes(warm: Notebooks) -> None:
    failed, run = worked_through(warm, FIB, "assert fib(5) == 5")
    assert (failed, run.notebook.ends) == (False, [])


@needs_box
def test_a_notebook_with_a_cell_that_used_up_its_time_is_out_of_time(warm: Notebooks) -> None:
    _, run = worked_through(warm, FIB, "fib(200)", "1 + 1")
    assert run.notebook.ends == ["out of time"]


# ------------------------------------------------------------------ a notebook with such cells


def _cell(kind: str, source: str, name: str, **data: Any) -> NotebookNode:
    """A cell that nbgrader tracks."""
    new = new_code_cell if kind == "code" else new_markdown_cell
    flags = {"grade": False, "solution": False, "locked": False, "task": False, **data}
    return new(source, metadata={"nbgrader": {"schema_version": 3, "grade_id": name, **flags}})


STUB = "### BEGIN SOLUTION\n{}\n### END SOLUTION"
CELLS = (
    _cell("code", STUB.format("def fib(n): return 5\nscore = 2"), "fib", solution=True),
    _cell("code", "assert fib(5) == 5", "check-fib", grade=True, locked=True, points=2),
    _cell("code", "score", "partial", grade=True, locked=True, points=2),
    _cell("markdown", "Your answer", "essay", grade=True, solution=True, points=3),
    _cell("markdown", "Do it.\n\n=== BEGIN MARK SCHEME ===\n4 if done\n=== END MARK SCHEME ===",
          "project", task=True, locked=True, points=4),
)  # fmt: skip


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classroom with a notebook in which an instructor has added such cells."""
    folder = tmp_path_factory.mktemp("plain")
    nb = numbers_room.chapter(folder)
    nb.cells += CELLS
    create(folder / "class", {CHAPTER: nb})
    return folder / "class"


def written(source: str, *edits: Edit) -> tuple[Edit, ...]:
    return fill("fib", source), fill("essay", "My essay."), *edits


def waits(room: Path, student: str) -> dict[str, tuple[float | None, bool]]:
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as book:
        (notebook,) = book.find_submission(CHAPTER, student).notebooks
        return {
            grade.name: (grade.auto_score, grade.needs_manual_grade) for grade in notebook.grades
        }


@needs_box
@pytest.mark.filterwarnings("ignore:Object of type.*:sqlalchemy.exc.SAWarning")  # from nbgrader
def test_plain_cells_are_graded_as_nbgrader_does_it(room: Path) -> None:
    given = released(room, CHAPTER)
    works = {
        "right": written("def fib(n): return 5\nscore = 1.5"),
        "too-much": written("def fib(n): return 5\nscore = 5"),
        "wrong": written("def fib(n): return 4\nscore = 0"),
        "untouched": (),
        "deleted": (fill("fib", "score = 2"), delete("essay"), delete("project")),
    }
    for student, edits in works.items():
        hand_in(room, student, CHAPTER, edited(given, *edits))
    rows = {row.student: row for row in graded_class.grade(room).results}
    tests = ("check-fib", "partial")
    assert {
        student: tuple(waits(room, student)[name][0] for name in tests) for student in works
    } == {
        "right": (2, 1.5),
        "too-much": (2, 0),
        "wrong": (0, 0),
        "untouched": (0, 0),
        "deleted": (0, 2),
    }
    assert {row.max_points for row in rows.values()} == {6 + 3 + 2 + 2 + 3 + 4}
    assert {name: row.status for name, row in rows.items()} == dict.fromkeys(works, "graded") | {
        "deleted": "graded after repair"
    }
    for student in works:
        assert waits(room, student)["project"] == (None, True)
        assert waits(room, student)["essay"] == (
            (0, False) if student == "untouched" else (None, True)
        )


def test_the_maximum_is_not_exceeded_by_what_a_test_shows() -> None:
    cell = copy.deepcopy(CELLS[2])
    for shown, points in {"1.5": 1.5, "2.0": 2, "5": 0, "'text'": 2, "": 0}.items():
        data = {"text/plain": shown}
        cell.outputs = [new_output("execute_result", data=data, execution_count=1)]
        assert auto_score(cell, {}) == points
    cell.outputs = [new_output("execute_result", data={"text/html": "x"}, execution_count=1)]
    assert auto_score(cell, {}) == 0


def test_a_check_of_the_course_earns_nothing_where_nothing_was_run() -> None:
    cell = copy.deepcopy(CELLS[1])
    assert auto_score(cell, None) == 0
    assert auto_score(cell, {}) == 2
    assert auto_score(cell, {"check-fib": 0.5}) == 1


@pytest.mark.filterwarnings("ignore:Object of type.*:sqlalchemy.exc.SAWarning")  # from nbgrader
def test_an_assignment_of_other_notebooks_is_refused_and_the_rest_is_graded(room: Path) -> None:
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as book:
        book.add_assignment("planned")
        book.add_assignment("ps1")
        book.add_notebook("problem1", "ps1")
    for assignment in ("ps1", CHAPTER):
        hand_in(room, "ann", assignment, released(room, CHAPTER))
    rows = {row.chapter: row for row in graded_class.grade(room).results if row.student == "ann"}
    assert rows[CHAPTER].status == "graded"
    assert rows["ps1"].status == "refused"
    assert "The notebooks of ps1 are problem1" in rows["ps1"].notes[0]
    assert "nbgrader autograde ps1" in rows["ps1"].notes[0]
