"""Each exercise runs alone: the chapter's first code cell, then the exercise's own cells."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.notebooknode import NotebookNode

from autograder import builder
from autograder.builder import source
from autograder.builder.outputs.execute import execute
from tests.exercises import constant
from tests.support.forked_kernels import forked_kernels

EXERCISES = [
    pytest.param(path, cell.value, id=cell.value)
    for path in builder.chapters()
    for cell in source.read(path)[0].tagged("check")
]


def alone(notebook: NotebookNode, name: str) -> NotebookNode:
    """The notebook's first code cell, and the cells from an exercise's card to its check."""
    ids = [cell.id for cell in notebook.cells]
    own = notebook.cells[ids.index(f"card-{name}") : ids.index(f"check-{name}") + 1]
    before = [cell for cell in notebook.cells if cell.id == constant(name, "RUNS_AFTER")]
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    notebook.cells = [first, *before, *own]
    return notebook


@pytest.mark.parametrize(("path", "name"), EXERCISES)
def test_an_exercise_runs_after_the_first_cell_alone(path: Path, name: str) -> None:
    with forked_kernels():
        run = execute(alone(builder.source_notebook(path), name))
    assert any("Passed" in str(output) for output in run.cells[-1].outputs)
