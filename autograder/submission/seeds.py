"""Which random models a student's answers are tried on, and in which order the cases come.

They are others for each student and for each hand-in: who hands in something else is tried on
something else, so that what one page has shown is of no use for the next.
"""

from __future__ import annotations

import hashlib
import hmac

from nbformat.notebooknode import NotebookNode

NOTES = "fxcourse"
"""The key of the notebook's metadata under which we note how it was graded."""


def key_of(secret: str, student: str) -> bytes:
    """What a student's seeds come from, in a classroom with that secret."""
    return hmac.digest(secret.encode(), student.encode(), hashlib.sha256)


def code_of(nb: NotebookNode) -> str:
    """A digest of a repaired notebook's code cells; outputs and metadata do not count."""
    found = hashlib.sha256()
    for cell in nb.cells:
        if cell.cell_type == "code":
            data = cell.source.encode("utf-8", "replace")
            found.update(len(data).to_bytes(8, "big") + data)
    return found.hexdigest()


def seed_of(key: bytes, code: str) -> int:
    """The seed of a hand-in.

    Args:
        key: the student's; see `key_of`.
        code: of what was handed in; see `code_of`.
    """
    digest = hmac.digest(key, code.encode(), hashlib.sha256)
    return int.from_bytes(digest[:4], "big")


def note_seed(nb: NotebookNode, seed: int) -> None:
    """Write into a graded notebook which seed it was graded with."""
    nb.metadata.setdefault(NOTES, {})["seed"] = seed


def noted_seed(nb: NotebookNode) -> int | None:
    """The seed with which a notebook was graded."""
    found = nb.metadata.get(NOTES, {}).get("seed")
    return found if isinstance(found, int) else None
