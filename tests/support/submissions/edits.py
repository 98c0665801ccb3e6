"""Edits that students make to a notebook, as functions on a released one."""

from __future__ import annotations

import copy
from collections.abc import Callable

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell

Edit = Callable[[NotebookNode], None]


def check_of(name: str) -> str:
    """The grade id of an exercise's check cell."""
    return f"check-{name}"


def place_of(nb: NotebookNode, grade_id: str) -> int:
    """The index of the first cell with that grade id."""
    return next(
        i
        for i, cell in enumerate(nb.cells)
        if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )


def fill(name: str, source: str) -> Edit:
    """Write an answer into its cell."""

    def edit(nb: NotebookNode) -> None:
        nb.cells[place_of(nb, name)].source = source

    return edit


def delete(grade_id: str) -> Edit:
    """Delete a cell."""

    def edit(nb: NotebookNode) -> None:
        del nb.cells[place_of(nb, grade_id)]

    return edit


def add(source: str, *, above: str = "", below: str = "") -> Edit:
    """Add a student's cell above or below another one, or at the end."""

    def edit(nb: NotebookNode) -> None:
        place = len(nb.cells)
        if above or below:
            place = place_of(nb, above or below) + bool(below)
        nb.cells.insert(place, new_code_cell(source))

    return edit


def duplicate(grade_id: str, source: str | None = None, *, at_end: bool = False) -> Edit:
    """Copy a cell with its metadata, as copy and paste does; the copy may have another source."""

    def edit(nb: NotebookNode) -> None:
        place = place_of(nb, grade_id)
        twin = copy.deepcopy(nb.cells[place])
        twin.id = new_code_cell().id
        twin.source = twin.source if source is None else source
        nb.cells.insert(len(nb.cells) if at_end else place + 1, twin)

    return edit


def split(grade_id: str, line: int) -> Edit:
    """Split a cell above the line with that index; both parts keep the metadata."""

    def edit(nb: NotebookNode) -> None:
        lines = nb.cells[place_of(nb, grade_id)].source.split("\n")
        duplicate(grade_id, "\n".join(lines[line:]))(nb)
        fill(grade_id, "\n".join(lines[:line]))(nb)

    return edit


def retype(grade_id: str, cell_type: str = "markdown") -> Edit:
    """Change the type of a cell."""

    def edit(nb: NotebookNode) -> None:
        cell = nb.cells[place_of(nb, grade_id)]
        cell.cell_type = cell_type
        cell.pop("outputs", None)
        cell.pop("execution_count", None)

    return edit


def set_metadata(cell_of: str, /, **values: object) -> Edit:
    """Change nbgrader's metadata of a cell."""

    def edit(nb: NotebookNode) -> None:
        nb.cells[place_of(nb, cell_of)].metadata["nbgrader"].update(values)

    return edit


def lose_metadata(grade_id: str) -> Edit:
    """Remove a cell's metadata and id, as some editors and converters do."""

    def edit(nb: NotebookNode) -> None:
        cell = nb.cells[place_of(nb, grade_id)]
        cell.metadata.clear()
        cell.id = new_code_cell().id

    return edit


def edited(released: NotebookNode, *edits: Edit) -> NotebookNode:
    """Copy a released notebook and apply these edits in order."""
    nb = copy.deepcopy(released)
    for edit in edits:
        edit(nb)
    return nb
