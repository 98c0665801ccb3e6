"""Which random models a student's answers are tried on: others for each student, and each time
the same."""

from __future__ import annotations

import hashlib
import hmac

from nbformat.notebooknode import NotebookNode

from autograder.classroom.repair import NOTES


def seed_of(secret: str, student: str) -> int:
    """The seed of a student's random models in a classroom with that secret."""
    digest = hmac.digest(secret.encode(), student.encode(), hashlib.sha256)
    return int.from_bytes(digest[:4], "big")


def note_seed(nb: NotebookNode, seed: int) -> None:
    """Write into a graded notebook which seed it was graded with."""
    nb.metadata.setdefault(NOTES, {})["seed"] = seed


def noted_seed(nb: NotebookNode) -> int | None:
    """The seed with which a notebook was graded."""
    found = nb.metadata.get(NOTES, {}).get("seed")
    return found if isinstance(found, int) else None
