"""Derives the seeds that select a student's random models and the order of cases.

They differ for each student and each hand-in: a changed answer is tried on other models, so that a
feedback page does not help with the next hand-in. The models of a class come from a pool of its
own, of which each student gets another share: facts about a model are computed once for the class.
"""

from __future__ import annotations

import hashlib
import hmac

from nbformat.notebooknode import NotebookNode

from autograder.fuzz.recipe import OWN

NOTES = "fxcourse"
"""The key of the notebook's metadata for the record of its grading."""


def seed_key(secret: str, student: str) -> bytes:
    """The key of a student's seeds, in a classroom with this secret."""
    return hmac.digest(secret.encode(), student.encode(), hashlib.sha256)


def bundle_key(secret: str, chapter: str) -> str:
    """The secret of a chapter's bundle, in hexadecimal digits.

    Seeds and pools are drawn from it as from the classroom's secret, which it does not reveal.
    """
    return hmac.digest(secret.encode(), f"bundle {chapter}".encode(), hashlib.sha256).hex()


def code_of(nb: NotebookNode) -> str:
    """A digest of a repaired notebook's code cells; outputs and metadata do not count."""
    found = hashlib.sha256()
    for cell in nb.cells:
        if cell.cell_type == "code":
            data = cell.source.encode("utf-8", "replace")
            found.update(len(data).to_bytes(8, "big") + data)
    return found.hexdigest()


def pool_of(secret: str, chapter: str, turn: int = 0) -> int:
    """The number of the pool of a class's random models, in a chapter.

    Args:
        secret: the classroom's secret.
        chapter: the chapter.
        turn: number of earlier pools.
    """
    digest = hmac.digest(secret.encode(), f"pool {turn} of {chapter}".encode(), hashlib.sha256)
    return int.from_bytes(digest[:4], "big") or 1


def seed_of(key: bytes, code: str, pool: int) -> int:
    """The seed of a hand-in; small enough for JSON to represent exactly.

    Args:
        key: the student's key; see `seed_key`.
        code: the digest of the hand-in; see `code_of`.
        pool: the class's pool; see `pool_of`. With 0, models are drawn for this hand-in alone.
    """
    digest = hmac.digest(key, code.encode(), hashlib.sha256)
    return pool * OWN + int.from_bytes(digest[:8], "big") % OWN


def note_seed(nb: NotebookNode, seed: int) -> None:
    """Record in a graded notebook the seed it was graded with."""
    nb.metadata.setdefault(NOTES, {})["seed"] = seed


def noted_seed(nb: NotebookNode) -> int | None:
    """The seed with which a notebook was graded."""
    found = nb.metadata.get(NOTES, {}).get("seed")
    return found if isinstance(found, int) else None
