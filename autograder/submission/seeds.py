"""Which random models a student's answers are tried on, and in which order the cases come.

They are others for each student and for each hand-in: who hands in something else is tried on
something else, so that what one page has shown is of no use for the next. The models of a class
come from a pool of its own, of which everybody gets another share: what is the same for every
answer is worked out once for each.
"""

from __future__ import annotations

import hashlib
import hmac

from nbformat.notebooknode import NotebookNode

from autograder.fuzz.recipe import OWN

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


def pool_of(secret: str, chapter: str, turn: int = 0) -> int:
    """The number of a pool from which a class's random models come, in a chapter.

    Args:
        secret: the classroom's.
        chapter: the chapter.
        turn: how many pools were there before this one.
    """
    digest = hmac.digest(secret.encode(), f"pool {turn} of {chapter}".encode(), hashlib.sha256)
    return int.from_bytes(digest[:4], "big") or 1


def seed_of(key: bytes, code: str, pool: int) -> int:
    """The seed of a hand-in; a number that JSON holds exactly, whoever reads it.

    Args:
        key: the student's; see `key_of`.
        code: of what was handed in; see `code_of`.
        pool: the class's; see `pool_of`. Without one (0), models are drawn for this hand-in alone.
    """
    digest = hmac.digest(key, code.encode(), hashlib.sha256)
    return pool * OWN + int.from_bytes(digest[:8], "big") % OWN


def note_seed(nb: NotebookNode, seed: int) -> None:
    """Write into a graded notebook which seed it was graded with."""
    nb.metadata.setdefault(NOTES, {})["seed"] = seed


def noted_seed(nb: NotebookNode) -> int | None:
    """The seed with which a notebook was graded."""
    found = nb.metadata.get(NOTES, {}).get("seed")
    return found if isinstance(found, int) else None
