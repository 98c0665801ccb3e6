"""Turns a notebook in source form into its released form, with nbgrader's preprocessors.

A classroom's ``nbgrader_config.py`` calls `configure`, so that ``nbgrader generate_assignment``
makes the same notebooks as `autograder.builder.build`.
"""

from __future__ import annotations

from typing import Any

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.converters.generate_assignment import GenerateAssignment
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
)
from nbgrader.utils import is_solution
from traitlets import Dict

from autograder.builder.metadata import solve_metadata
from autograder.builder.solution_regions import (
    STUB,
    own_stubs,
    with_own_stubs,
    without_helpers,
)


class ClearRegions(ClearSolutions):
    """nbgrader's `ClearSolutions`, except that top-level helpers of a solution get no stub.

    A stub instead of them would raise before the learner's function is defined. A region may have
    its own stub, in lines that begin with ``### STUB``.
    """

    code_stub = Dict(ClearSolutions().code_stub | {"python": STUB}).tag(config=True)

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Clear one cell."""
        if cell.cell_type == "code" and is_solution(cell):
            cell.source = without_helpers(cell.source)
        stubs = own_stubs(cell.source)
        cleared: NotebookNode
        cleared, resources = super().preprocess_cell(cell, resources, cell_index)
        cleared.source = with_own_stubs(cleared.source, stubs)
        return cleared, resources


CHAIN = (
    LockCells,
    ClearRegions,
    ClearOutput,
    CheckCellMetadata,
    ClearHiddenTests,
    ComputeChecksums,
    CheckCellMetadata,
)
"""nbgrader's preprocessors for a release, without those that write to a gradebook."""


def release(notebook: NotebookNode) -> NotebookNode:
    """The released form of a notebook in source form. Changes and returns the argument."""
    resources: dict[str, Any] = {}
    for link in CHAIN:
        notebook, resources = link().preprocess(notebook, resources)
    return notebook


def released(source: str) -> str:
    """The released text of a solve cell.

    Raises:
        RuntimeError: its markers are not balanced.
    """
    cell = new_code_cell(source, metadata={"nbgrader": solve_metadata("answer")})
    cell, _ = ClearRegions().preprocess_cell(cell, {"language": "python"}, 0)
    return str(cell.source)


def configure(config: Any) -> None:
    """Make ``nbgrader generate_assignment`` release notebooks as the builder does.

    Args:
        config: the result of ``get_config()`` in an ``nbgrader_config.py``.
    """
    ours = f"{ClearRegions.__module__}.{ClearRegions.__qualname__}"
    config.GenerateAssignment.preprocessors = [
        ours if link is ClearSolutions else f"{link.__module__}.{link.__qualname__}"
        for link in GenerateAssignment.preprocessors.default()
    ]
