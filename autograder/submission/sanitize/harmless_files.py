"""Which files may lie beside a graded notebook under their own names, and be linked to.

A browser shows graded folders from Formgrader's own address. What it would run as a page would act
with the instructor's rights. So this is a list of what is harmless, and not of what is not.
"""

from __future__ import annotations

HARMLESS = frozenset("csv gif jpeg jpg json md npy npz png pt py tsv txt".split())
"""Endings of files that no browser runs."""

PICTURES = HARMLESS & frozenset("gif jpeg jpg png".split())
"""Endings of pictures."""


def is_harmless(path: str) -> bool:
    """Whether a file of this name is never run."""
    return _ending(path) in HARMLESS


def may_be_linked(path: str) -> bool:
    """Whether a link may lead to this path: to what is harmless, or to a notebook."""
    return is_harmless(path) or _ending(path) == "ipynb"


def _ending(path: str) -> str:
    before, dot, ending = path.rpartition(".")
    return ending.lower() if dot and before else ""
