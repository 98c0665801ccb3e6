"""Reads a chapter: ``NN_topic.py`` in py:percent form, with short tags in cell headers."""

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
"""The tags of cell headers, each with the kind of cell that may have it."""

FLAGS = ("proof", "drill")
"""Tags without a name: they are written ``proof=true``."""

DERIVED = ("predict", "debrief")
"""Tags of cells that the builder generates, so they are in no header; see `unfold`."""

_HEADER = re.compile(r"^\s*#\s*%%(%*\s|\s*$)")
_NOTES_OF_JUPYTEXT = {"lines_to_next_cell"}
_FOR_FORMATTER = re.compile(r"  # fmt: skip$", re.M)
"""A comment for the formatter of the file, which means nothing to a notebook's reader."""


@dataclass(frozen=True)
class Cell:
    """One cell of a chapter.

    Attributes:
        line: line of the cell's header in the file, counted from 1.
        kind: ``"markdown"`` or ``"code"``.
        header: the tags of the header, with their values.
        source: the cell's text, as in the notebook.
        id: the cell's id in the notebook, if neither its tag nor its text determines it.
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
        """The tag's value: the name of an exercise or of an exception."""
        return str(self.header.get(self.tag, ""))


@dataclass(frozen=True)
class Chapter:
    """A chapter as read, before anything is expanded.

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
        """The cells with this tag, in order."""
        return [cell for cell in self.cells if cell.tag == tag]


def read(path: Path) -> tuple[Chapter, NotebookNode]:
    """Read a chapter's file.

    Returns:
        The chapter with line numbers, and jupytext's notebook of the file.

    Raises:
        BuildRefused: the headers in the file do not match the cells that jupytext finds.
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
    """Parse a file by jupytext. Cached, because the checks of one chapter read all the others."""
    notebook: NotebookNode = jupytext.reads(text, fmt="py:percent")
    for node in notebook.cells:
        if node.cell_type == "code":
            node.source = _FOR_FORMATTER.sub("", node.source)
    return notebook


def _header(node: NotebookNode) -> dict[str, object]:
    return {key: node.metadata[key] for key in node.metadata if key not in _NOTES_OF_JUPYTEXT}


def _uncounted(text: str, lines: list[int]) -> Problem:
    """The reason why the number of headers is not the number of cells."""
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
