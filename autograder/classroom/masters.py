"""What the gradebook knows about the cells of a notebook, as it was given to the students."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook

from autograder.builder.metadata import SCHEMA
from autograder.builder.regions import BEGIN_HIDDEN, END_HIDDEN

CHECK = "check-"
"""What the grade id of a check cell begins with; the exercise's name follows."""


@dataclass(frozen=True)
class Master:
    """One cell that nbgrader keeps track of.

    Attributes:
        name: its grade id.
        cell_type: ``"code"`` or ``"markdown"``.
        source: its text, with hidden tests and without the solution.
        checksum: nbgrader's checksum of that text.
        locked: whether students may not change it.
        grade: whether it carries points.
        solution: whether students write their answer in it.
        task: whether it is one of nbgrader's task cells.
        points: full marks, for a cell that carries points.
    """

    name: str
    cell_type: str
    source: str
    checksum: str | None
    locked: bool
    grade: bool
    solution: bool
    task: bool
    points: float | None

    @property
    def released(self) -> str:
        """The text as students got it."""
        return without_hidden(self.source)

    @property
    def exercise(self) -> str | None:
        """For a check cell, the exercise's name."""
        is_check = self.grade and not self.solution and self.name.startswith(CHECK)
        return self.name.removeprefix(CHECK) if is_check else None

    def metadata(self) -> dict[str, Any]:
        """The cell's metadata for nbgrader."""
        found: dict[str, Any] = {
            "schema_version": SCHEMA,
            "grade": self.grade,
            "grade_id": self.name,
            "locked": self.locked,
            "solution": self.solution,
            "task": self.task,
            "cell_type": self.cell_type,
        }
        if self.points is not None:
            found["points"] = self.points
        if self.checksum is not None:
            found["checksum"] = self.checksum
        return found


def masters_of(db_url: str, notebook: str, assignment: str) -> dict[str, Master]:
    """The tracked cells of a notebook by grade id, read from the gradebook.

    Raises:
        nbgrader.api.MissingEntry: the gradebook has no such notebook.
    """
    with Gradebook(db_url) as gradebook:
        return masters_in(gradebook, notebook, assignment)


def masters_in(gradebook: Gradebook, notebook: str, assignment: str) -> dict[str, Master]:
    """The tracked cells of a notebook by grade id.

    Raises:
        nbgrader.api.MissingEntry: the gradebook has no such notebook.
    """
    kept = gradebook.find_notebook(notebook, assignment)
    points = {cell.name: cell.max_score for cell in (*kept.grade_cells, *kept.task_cells)}
    grade = {cell.name for cell in kept.grade_cells}
    solution = {cell.name for cell in kept.solution_cells}
    task = {cell.name for cell in kept.task_cells}
    return {
        cell.name: Master(
            cell.name,
            cell.cell_type,
            cell.source,
            cell.checksum,
            cell.locked,
            cell.name in grade,
            cell.name in solution,
            cell.name in task,
            points.get(cell.name),
        )
        for cell in kept.source_cells
    }


def grade_id(cell: NotebookNode) -> str | None:
    """The grade id that a cell claims to have, whatever state its metadata is in."""
    claimed = cell.metadata.get("nbgrader")
    found = claimed.get("grade_id") if isinstance(claimed, dict) else None
    return found if isinstance(found, str) and found else None


def checked_exercise(cell: NotebookNode) -> str | None:
    """The exercise that a cell checks; ``None`` for any other cell.

    Only to be asked of notebooks that have been repaired: before that, metadata may be forged.
    """
    data = cell.metadata.get("nbgrader", {})
    is_check = data.get("grade") and not data.get("solution")
    name = data.get("grade_id", "")
    return name.removeprefix(CHECK) if is_check and name.startswith(CHECK) else None


def without_hidden(source: str) -> str:
    """The source of a check cell without its hidden tests."""
    kept, hidden = [], False
    for line in source.split("\n"):
        hidden = hidden or BEGIN_HIDDEN in line
        if not hidden:
            kept.append(line)
        if END_HIDDEN in line:
            hidden = False
    return "\n".join(kept)
