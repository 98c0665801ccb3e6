"""Makes the cells of predictions, drills and debriefs, before `expand`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.builder import drills
from autograder.builder.debriefs import debrief_of
from autograder.builder.predictions import (
    call_source,
    is_prediction,
    parts_of,
    prediction,
    question_source,
)
from autograder.builder.source import Cell, Chapter
from autograder.lessons import Debrief, Prediction

OWN_IMPORT = re.compile(r"^from autograder import (?P<names>[\w, ]+)$", re.M)
"""The line that imports from the course; names that generated cells call are added to it."""


@dataclass(frozen=True)
class Unfolded:
    """A chapter with the same cells as its notebook, one by one.

    Attributes:
        chapter: the chapter; a generated cell has the line of the cell that it was made from.
        notebook: its notebook.
        predictions: its predictions, in order.
        debriefs: the debriefs of its exercises, by name.
    """

    chapter: Chapter
    notebook: NotebookNode
    predictions: tuple[Prediction, ...]
    debriefs: dict[str, Debrief]


def unfold(
    chapter: Chapter,
    notebook: NotebookNode,
    *,
    solved: bool = False,
    proofs: Mapping[int, str] = MappingProxyType({}),
) -> Unfolded:
    """Replace each prediction by a question and an answer cell, and add a cell for each debrief.

    Args:
        chapter: as read, without problems.
        notebook: jupytext's notebook of the chapter; it is changed.
        solved: pick the right letters, and keep the solutions of drills.
        proofs: code that proves the right option of a prediction, by the line of its cell.
    """
    asked: list[Prediction] = []
    cells: list[Cell] = []
    nodes: list[NotebookNode] = []
    debriefs = _debriefs(chapter)
    last = {c.value: c for c in chapter.cells if c.tag in ("solve", "check", "hint")}
    for cell, node in zip(chapter.cells, notebook.cells, strict=True):
        if cell.tag == "drill":
            cells.append(_drill_cell(cell, solved))
            nodes.append(new_code_cell(cells[-1].source))
            continue
        if not is_prediction(cell):
            cells.append(cell)
            nodes.append(node)
            if cell.value in debriefs and last.get(cell.value) is cell:
                cells.append(_debrief_cell(cell))
                nodes.append(new_code_cell(cells[-1].source))
            continue
        parts = parts_of(cell)
        asked.append(prediction(parts, chapter.name, len(asked) + 1, proofs.get(cell.line, "")))
        letter = asked[-1].right if solved else "?"
        made = [replace(cell, source=question_source(parts, asked[-1]))]
        made += [_predict_cell(cell, asked[-1], letter)]
        if parts.rest:
            made += [replace(cell, source=parts.rest)]
        cells += made
        nodes += _nodes(made)
    for name in ["predict"] * bool(asked) + ["debrief"] * bool(debriefs):
        add_import(nodes, name)
    notebook.cells = nodes
    return Unfolded(replace(chapter, cells=tuple(cells)), notebook, tuple(asked), debriefs)


def _debriefs(chapter: Chapter) -> dict[str, Debrief]:
    found = {cell.value: debrief_of(chapter, cell.value) for cell in chapter.tagged("solve")}
    return {name: debrief for name, debrief in found.items() if debrief is not None}


def _debrief_cell(cell: Cell) -> Cell:
    return replace(cell, header={"debrief": cell.value}, source=f'debrief("{cell.value}")')


def add_import(nodes: Sequence[NotebookNode], name: str) -> NotebookNode | None:
    """Add a name to the first import from `autograder`, and return its cell, if there is one."""
    for node in nodes:
        found = OWN_IMPORT.search(node.source) if node.cell_type == "code" else None
        if found:
            names = sorted({name, *re.split(r", *", found["names"])})
            line = f"from autograder import {', '.join(names)}"
            node.source = node.source[: found.start()] + line + node.source[found.end() :]
            return node
    return None


def _predict_cell(cell: Cell, asked: Prediction, letter: str) -> Cell:
    source = call_source(asked, letter)
    header: dict[str, object] = {"predict": asked.name}
    return replace(cell, kind="code", header=header, source=source, id=f"predict-{asked.mark}")


def _drill_cell(cell: Cell, solved: bool) -> Cell:
    name = drills.drill_of(cell).name.replace(".", "-")
    return replace(cell, source=drills.given(cell, solved=solved), id=f"drill-{name}")


def _nodes(cells: Sequence[Cell]) -> Iterator[NotebookNode]:
    for cell in cells:
        code = cell.kind == "code"
        yield new_code_cell(cell.source) if code else new_markdown_cell(cell.source)
