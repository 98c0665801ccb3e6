"""Puts right what students' notebooks have been seen to do to the cells that nbgrader tracks.

Stock nbgrader drops such a submission, stops the whole class at it, or leaves its points
open for ever. Each function here mends one thing, in place, and yields a sentence about it.
The sentences name cells by their grade ids, which are the course's, never by students' text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from IPython.core.inputtransformer2 import TransformerManager
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.classroom.form import set_type
from autograder.classroom.masters import Master, grade_id

Masters = Mapping[str, Master]
Step = Callable[[NotebookNode, Masters], Iterator[str]]


def forget_unknown(nb: NotebookNode, masters: Masters) -> Iterator[str]:
    """Metadata of cells that the course does not have, or that cannot be read."""
    for number, cell in enumerate(nb.cells, start=1):
        if "nbgrader" in cell.metadata and grade_id(cell) not in masters:
            claimed = grade_id(cell) is not None
            del cell.metadata["nbgrader"]
            if claimed:
                yield f"Cell {number} claimed to be a graded cell that this notebook does not have."


def recognise(nb: NotebookNode, masters: Masters) -> Iterator[str]:
    """Cells whose metadata was lost, as some editors and converters lose it."""
    present = {grade_id(cell) for cell in nb.cells}
    for master in masters.values():
        if master.name in present:
            continue
        found = [c for c in nb.cells if grade_id(c) is None and _looks_like(c, master)]
        if found:
            found[-1].metadata["nbgrader"] = NotebookNode(master.metadata())
            yield f"The cell `{master.name}` had lost its metadata; it was recognised again."


def _looks_like(cell: NotebookNode, master: Master) -> bool:
    if cell.get("id") == master.name:
        return True
    if cell.cell_type != "code":
        return False
    if master.solution:
        return defines(cell.source, master.name)
    return bool(master.exercise) and cell.source.strip() == master.released.strip()


def defines(source: str, name: str) -> bool:
    """Whether a cell's code defines a function or class of that name, sound or not."""
    return re.search(rf"^(async\s+def|def|class)\s+{re.escape(name)}\b", source, re.M) is not None


def join_halves(nb: NotebookNode, masters: Masters) -> Iterator[str]:
    """An answer that was split into cells of which not each one is Python by itself."""
    start = 0
    while start < len(nb.cells):
        name, end = grade_id(nb.cells[start]), start + 1
        while name and end < len(nb.cells) and grade_id(nb.cells[end]) == name:
            end += 1
        parts = [cell.source for cell in nb.cells[start:end]]
        if len(parts) > 1 and masters[name].solution and masters[name].cell_type == "code":
            whole = "\n".join(parts)
            if not all(map(_stands_alone, parts)) and _stands_alone(whole):
                nb.cells[start].source = whole
                del nb.cells[start + 1 : end]
                end = start + 1
                yield f"The cell `{name}` was split within its code; its parts were joined."
        start = end


def _stands_alone(source: str) -> bool:
    """Whether a cell is Python by itself, and does not begin within something."""
    if source.lstrip("\n").startswith((" ", "\t")):
        return False  # IPython would run it, without the indentation
    if len(source) > _LONG or source.count("\n") > _MANY:
        return True  # nobody splits such an answer by mistake, and parsing it may take for ever
    try:
        ast.parse(TransformerManager().transform_cell(source))
    except Exception:  # a student's text may break the parser in any way
        return False
    return True


_LONG, _MANY = 20_000, 400
"""Characters and lines of a cell beyond which nobody asks whether it is Python."""


def keep_one_of_each(nb: NotebookNode, masters: Masters) -> Iterator[str]:
    """Copies: copying or splitting a cell copies its metadata too."""
    for master in masters.values():
        cells = [cell for cell in nb.cells if grade_id(cell) == master.name]
        if len(cells) < 2:
            continue
        as_given = [cell for cell in cells if _is_as_given(cell, master)]
        worked_in = [cell for cell in cells if not _is_as_given(cell, master)]
        keep = ((as_given if master.locked else worked_in) or cells)[-1]
        for cell in worked_in:
            if cell is not keep:
                del cell.metadata["nbgrader"]  # an ordinary cell from now on
        # A copy as it was given holds no work, and run below the answer it would undo it.
        nb.cells = [c for c in nb.cells if c is keep or grade_id(c) != master.name]
        kind = "as given" if master.locked else "with work"
        which = "the last one" if keep is cells[-1] else f"the last one {kind}"
        yield f"The cell `{master.name}` was there {len(cells)} times; {which} counts."


def _is_as_given(cell: NotebookNode, master: Master) -> bool:
    source, given = cell.source.strip(), master.released.strip()
    return source in ("", given) or (master.locked and source in given)


def restore_type(nb: NotebookNode, masters: Masters) -> Iterator[str]:
    """A code cell that was made a markdown cell, or the other way round."""
    for cell, master in _tracked(nb, masters):
        if cell.cell_type != master.cell_type:
            now, then = cell.cell_type, master.cell_type
            yield f"The cell `{master.name}` had been made a {now} cell; it is a {then} cell again."
            set_type(cell, master.cell_type)


def restore_metadata(nb: NotebookNode, masters: Masters) -> Iterator[str]:
    """Points and flags that were changed, and keys that are missing."""
    for cell, master in _tracked(nb, masters):
        claimed, true = cell.metadata["nbgrader"], master.metadata()
        flags = ("grade", "solution", "task", "locked")
        if any(key in claimed and bool(claimed[key]) != true[key] for key in flags):
            yield f"The flags of the cell `{master.name}` had been changed; they are restored."
        if "points" in claimed and claimed["points"] != true.get("points"):
            yield f"The points of the cell `{master.name}` had been changed; they are restored."
        cell.metadata["nbgrader"] = NotebookNode(true)


def restore_source(nb: NotebookNode, masters: Masters) -> Iterator[str]:
    """The text of cells that students may not change."""
    for cell, master in _tracked(nb, masters):
        if not master.locked:
            continue
        if cell.source.strip() not in (master.released.strip(), master.source.strip()):
            yield f"The cell `{master.name}` had been edited; its text is restored."
        cell.source = master.source


def add_missing(nb: NotebookNode, masters: Masters) -> Iterator[str]:
    """Cells that carry points and were deleted."""
    present = {grade_id(cell) for cell in nb.cells}
    for master in masters.values():
        if master.name in present or not (master.grade or master.task):
            continue
        new = new_code_cell if master.cell_type == "code" else new_markdown_cell
        cell = new(master.source, metadata={"nbgrader": NotebookNode(master.metadata())})
        nb.cells.insert(_place_of(master, nb), cell)
        yield f"The cell `{master.name}` was missing; it was put back."


def _place_of(master: Master, nb: NotebookNode) -> int:
    """Where a cell that was deleted belongs: below the answer that it checks."""
    name = master.exercise
    for belongs in (lambda c: grade_id(c) == name, lambda c: defines(c.source, str(name))):
        places = [i for i, cell in enumerate(nb.cells) if name and belongs(cell)]
        if places:
            return places[-1] + 1
    return len(nb.cells)


def _tracked(nb: NotebookNode, masters: Masters) -> Iterator[tuple[NotebookNode, Master]]:
    for cell in nb.cells:
        name = grade_id(cell)
        if name is not None:
            yield cell, masters[name]


STEPS: tuple[Step, ...] = (
    forget_unknown,
    recognise,
    restore_type,
    join_halves,
    keep_one_of_each,
    restore_metadata,
    restore_source,
    add_missing,
)
