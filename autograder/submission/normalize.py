"""Repairs the format of a notebook file before its cells are examined."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any

from nbformat.notebooknode import NotebookNode

_GOOD_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def put_in_form(nb: NotebookNode) -> Iterator[str]:
    """Make a notebook valid in place; yield a sentence for each change that a reader would see."""
    nb.nbformat, nb.nbformat_minor = 4, 5
    nb.metadata.pop("widgets", None)  # their scripts would run on the feedback page
    seen: set[str] = set()
    for number, cell in enumerate(nb.cells, start=1):
        if cell.get("cell_type") not in ("code", "markdown", "raw"):
            yield f"Cell {number} was of an unknown type; it is kept as raw text."
            cell.cell_type = "raw"
        cell.source = _text(cell.get("source")).replace("\r\n", "\n")
        if not isinstance(cell.get("metadata"), dict):
            cell.metadata = NotebookNode()
        set_type(cell, cell.cell_type)
        if not _GOOD_ID.fullmatch(str(cell.get("id", ""))) or cell.id in seen:
            cell.id = _new_id(number, cell.source, seen)
        seen.add(cell.id)


def set_type(cell: NotebookNode, cell_type: str) -> None:
    """Make a cell a code, markdown or raw cell, with the fields of such a cell."""
    cell.cell_type = cell_type
    if cell_type == "code":
        cell.pop("attachments", None)
        if not isinstance(cell.get("outputs"), list):
            cell.outputs = []
        cell.setdefault("execution_count", None)
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
    known = {"id", "cell_type", "metadata", "source", "attachments", "outputs", "execution_count"}
    for key in set(cell) - known:
        del cell[key]


def _new_id(number: int, source: str, taken: set[str]) -> str:
    """An id for a cell without a valid one, always the same for the same file."""
    text = f"{number} {source}"
    while True:
        text = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        if text[:8] not in taken:
            return text[:8]


def _text(source: Any) -> str:
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""
