"""Tests that an instructor has written as plain cells, beside the exercises of this course."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.classroom.sitting import Patience, Sitting, is_failed
from autograder.sandbox.bounds import MIB, Bounds
from autograder.sandbox.probe import why_no_box
from autograder.sandbox.worker import Chapter, Source, Warm

BOUNDS = Bounds(memory=512 * MIB, disk=8 * MIB, processes=32, cpu=60.0, wall=60.0)
SHORT = Patience(cell_cpu=0.5, cell_wall=5.0)

needs_box = pytest.mark.skipif(
    why_no_box() is not None, reason=f"no box on this machine: {why_no_box()}"
)


@pytest.fixture(scope="module")
def warm() -> Iterator[Source]:
    source = Warm(Chapter("00_start", imports=(), bounds=BOUNDS))
    yield source
    source.close()


def worked_through(warm: Source, *cells: str) -> tuple[bool, Sitting]:
    """Whether the last of these cells failed, and how the notebook was worked through."""
    nb = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    sitting = Sitting(nb, {}, warm, patience=SHORT)
    sitting.hold()
    return is_failed(nb.cells[-1]), sitting


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
def test_a_test_fails_unless_it_comes_to_its_end(warm: Source, what: str) -> None:
    failed, _ = worked_through(warm, *FAIL[what])
    assert failed


@needs_box
def test_a_test_that_holds_passes(warm: Source) -> None:
    failed, sitting = worked_through(warm, FIB, "assert fib(5) == 5")
    assert (failed, sitting.ends) == (False, [])


@needs_box
def test_a_notebook_with_a_cell_that_used_up_its_time_is_out_of_time(warm: Source) -> None:
    _, sitting = worked_through(warm, FIB, "fib(200)", "1 + 1")
    assert sitting.ends == ["out of time"]
