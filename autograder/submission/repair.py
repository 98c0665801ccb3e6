"""Puts a submission's notebook right, and says what was repaired."""

from __future__ import annotations

import logging

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.submission.normalize import put_in_form
from autograder.submission.repair_steps import STEPS, Kind, Repair, SourceCells
from autograder.submission.sanitize import clean_notebook
from autograder.submission.seeds import NOTES

_log = logging.getLogger(__name__)
_UNREADABLE = {"unreadable": True}


def repair(nb: NotebookNode, source_cells: SourceCells) -> list[Repair]:
    """Repair a notebook in place, and note in its metadata what was repaired.

    Returns:
        What was repaired, in order.
    """
    unread = is_unreadable(nb)
    repairs = [_mended("The file could not be read as a notebook.")] if unread else []
    repairs += map(_mended, put_in_form(nb))
    for step in STEPS:
        repairs += step(nb, source_cells)
    repairs += map(_mended, clean_notebook(nb))
    nb.metadata[NOTES] = {"repairs": [found.sentence for found in repairs]}
    return repairs


def _mended(sentence: str) -> Repair:
    return Repair(Kind.MENDED, sentence)


def read_forgivingly(text: bytes) -> NotebookNode:
    """A notebook from a file's bytes; in place of what is none, an empty one that says so."""
    try:
        nb: NotebookNode = nbformat.reads(text.decode("utf-8-sig"), as_version=4)
        return nb
    except Exception as error:  # a student's file may hold anything at all
        _log.debug("Not a notebook: %s", repr(error)[:500])
        note = new_markdown_cell("**This file could not be read as a notebook.**")
        empty: NotebookNode = new_notebook(cells=[note], metadata={NOTES: _UNREADABLE})
        return empty


def is_unreadable(nb: NotebookNode) -> bool:
    """Whether this stands for a file that is no notebook."""
    return bool(nb.metadata.get(NOTES) == _UNREADABLE)
