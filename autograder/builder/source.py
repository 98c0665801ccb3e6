"""Reading a chapter: ``NN_topic.py`` in py:percent form, with short tags in cell headers."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import jupytext
from nbformat.notebooknode import NotebookNode

from autograder.builder.problems import BuildRefused, Problem

TAGS = {
    "card": "markdown", "solve": "code", "check": "code", "hint": "code", "raises": "code",
    "uses": "code", "proof": "code", "drill": "code",
}  # fmt: skip
"""The tags a cell header may carry, with the kind of cell that each belongs to."""

FLAGS = ("proof", "drill")
"""Tags that name nothing: they are written ``proof=true``."""

DERIVED = ("predict", "debrief")
"""Tags of cells that the builder makes, and that no header carries; see `unfold`."""

_HEADER = re.compile(r"^\s*#\s*%%(%*\s|\s*$)")
_NOTES_OF_JUPYTEXT = {"lines_to_next_cell"}
_FOR_FORMATTER = re.compile(r"  # fmt: skip$", re.M)
"""A comment for the formatter of the file; a notebook is not formatted, and its reader asks why."""


@dataclass(frozen=True)
class Cell:
    """One cell of a chapter.

    Attributes:
        line: line of the cell's header in the file, counted from 1.
        kind: ``"markdown"`` or ``"code"``.
        header: what the header says, tag by tag.
        source: the cell's text, as the notebook has it.
        id: what the notebook calls the cell, where neither its tag nor its text gives it a name.
    """

    line: int
    kind: str
    header: dict[str, object]
    source: str
    id: str = ""

    @property
    def tag(self) -> str:
        """The cell's tag, or ``""`` for plain prose and plain code."""
        return next((key for key in self.header if key in TAGS or key in DERIVED), "")

    @property
    def value(self) -> str:
        """What the tag says: an exercise's name, or an exception's."""
        return str(self.header.get(self.tag, ""))


@dataclass(frozen=True)
class Chapter:
    """A chapter as it was read, before anything is expanded.

    Attributes:
        path: the source file.
        cells: its cells; cell ``i`` is cell ``i`` of every notebook made from it.
    """

    path: Path
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """The file's stem, such as ``03_manipulation``."""
        return self.path.stem

    def tagged(self, tag: str) -> list[Cell]:
        """The cells that carry this tag, in order."""
        return [cell for cell in self.cells if cell.tag == tag]


def read(path: Path) -> tuple[Chapter, NotebookNode]:
    """Read a chapter's file.

    Returns:
        The chapter with line numbers, and the notebook that jupytext makes of the file.

    Raises:
        BuildRefused: the headers found in the file are not the cells that jupytext sees.
    """
    path = Path(path)
    text = path.read_text(encoding="utf-8")
    notebook = copy.deepcopy(_as_notebook(text))
    lines = [n for n, line in enumerate(text.splitlines(), start=1) if _HEADER.match(line)]
    if len(lines) != len(notebook.cells):
        raise BuildRefused(path, [_uncounted(text, lines)])
    cells = (
        Cell(line, node.cell_type, _header(node), node.source)
        for line, node in zip(lines, notebook.cells, strict=True)
    )
    return Chapter(path, tuple(cells)), notebook


@lru_cache(maxsize=64)
def _as_notebook(text: str) -> NotebookNode:
    """What jupytext makes of a file; each chapter is read for itself, and once for all others."""
    notebook: NotebookNode = jupytext.reads(text, fmt="py:percent")
    for node in notebook.cells:
        if node.cell_type == "code":
            node.source = _FOR_FORMATTER.sub("", node.source)
    return notebook


def _header(node: NotebookNode) -> dict[str, object]:
    return {key: node.metadata[key] for key in node.metadata if key not in _NOTES_OF_JUPYTEXT}


def _uncounted(text: str, lines: list[int]) -> Problem:
    """Why the number of headers is not the number of cells."""
    first = next((n for n, line in enumerate(text.splitlines(), 1) if line.strip()), 1)
    if not lines or first < lines[0]:
        return Problem(
            first,
            "The file does not begin with a cell header.",
            "Put '# %% [markdown]' on the first line.",
        )
    return Problem(
        lines[0],
        "The file holds '# %%' lines that do not begin a cell, inside a string or a code fence.",
        "Write these lines in another way, so that every '# %%' line begins a cell.",
    )
