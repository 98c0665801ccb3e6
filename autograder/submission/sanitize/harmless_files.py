"""The files that are published with a graded notebook under their own names, and may be linked.

A browser opens graded folders from Formgrader's own address. An active page among them would run
with the instructor's rights. So this is a list of what is allowed, and not of what is forbidden.
"""

from __future__ import annotations

HARMLESS = frozenset("csv gif jpeg jpg json md npy npz png pt py tsv txt".split())
"""Extensions of files that no browser runs."""

PICTURES = HARMLESS & frozenset("gif jpeg jpg png".split())
"""Extensions of pictures."""


def is_harmless(path: str) -> bool:
    """Whether no browser runs a file of this name."""
    return _ending(path) in HARMLESS


def may_be_linked(path: str) -> bool:
    """Whether a link may lead to this path: to a harmless file, or to a notebook."""
    return is_harmless(path) or _ending(path) == "ipynb"


def _ending(path: str) -> str:
    before, dot, ending = path.rpartition(".")
    return ending.lower() if dot and before else ""
