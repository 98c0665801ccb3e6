"""Kinds of cells in a learner's notebook: the course's, changed or not, and the learner's own."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode

Notebooks = dict[str, NotebookNode]
"""Notebooks by the stems of their files, such as ``03_manipulation``."""

_PICK = re.compile(
    r'predict\(\s*(?P<q>["\'])(?P<name>[^"\']+)(?P=q)\s*,\s*["\'](?P<letter>[^"\']*)["\']'
)

_OLD_LAYOUT = Path(__file__).parent / "old_layout.json"


def grade_id(cell: NotebookNode) -> str:
    """The name of a cell in nbgrader; ``""`` for a cell that nbgrader does not know."""
    known: Any = cell.get("metadata", {}).get("nbgrader", {})
    return str(known.get("grade_id", "")) if isinstance(known, dict) else ""


def is_answer(cell: NotebookNode) -> bool:
    """Whether this is the cell in which a learner writes the answer to an exercise."""
    known = cell.get("metadata", {}).get("nbgrader", {})
    return bool(grade_id(cell)) and bool(known.get("solution")) and not known.get("grade")


def name_of(cell: NotebookNode) -> str:
    """The name of a cell of the course, which does not depend on its text."""
    return grade_id(cell) or str(cell.get("id", ""))


def text_of(cell: NotebookNode) -> str:
    """A cell's text; equal for two cells that look the same to a person."""
    return str(cell.source).strip()


def picked(cell: NotebookNode) -> tuple[str, str] | None:
    """The prediction that a cell answers, and its letter; None for any other cell."""
    found = _PICK.search(cell.source) if cell.cell_type == "code" else None
    return (found["name"], found["letter"]) if found else None


def with_letter(cell: NotebookNode, letter: str) -> str:
    """The text of a cell that answers a prediction, with another letter."""
    found = _PICK.search(cell.source)
    assert found is not None
    return str(cell.source[: found.start("letter")] + letter + cell.source[found.end("letter") :])


def is_of_old_layout(cell: NotebookNode) -> bool:
    """Whether a cell has the text of a cell of the course from before cells had meaningful ids."""
    digest = hashlib.sha256(text_of(cell).encode()).hexdigest()[:8]
    return digest in _old_layout()


@cache
def _old_layout() -> frozenset[str]:
    return frozenset(json.loads(_OLD_LAYOUT.read_text(encoding="utf-8")))
