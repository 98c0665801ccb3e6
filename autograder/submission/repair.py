"""Repairs a submission's notebook, and records the repairs."""

from __future__ import annotations

import codecs
import logging
import re

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.submission.normalize import put_in_form
from autograder.submission.repair_steps import STEPS, Repair, RepairKind, SourceCells
from autograder.submission.sanitize import clean_notebook
from autograder.submission.seeds import NOTES
from autograder.submission.tampering import within_budget

_log = logging.getLogger(__name__)
_CONFLICT_MARK = re.compile(r"^(?:<{7} |={7}$|>{7} )", re.MULTILINE)


def repair(nb: NotebookNode, source_cells: SourceCells, why_unread: str = "") -> list[Repair]:
    """Repair a notebook in place, and record the repairs in its metadata.

    Metadata that the course writes into graded notebooks is replaced, because a student may have
    forged it.

    Args:
        nb: the submitted notebook.
        source_cells: the released cells, by grade id.
        why_unread: why the file could not be read; see `read_forgivingly`.

    Returns:
        The repairs, in order.
    """
    repairs = [_repaired(why_unread)] if why_unread else []
    repairs += map(_repaired, put_in_form(nb))
    with within_budget(cell.source for cell in nb.cells if cell.cell_type == "code"):
        for step in STEPS:
            repairs += step(nb, source_cells)
    repairs += map(_repaired, clean_notebook(nb))
    nb.metadata[NOTES] = {"repairs": [found.sentence for found in repairs]}
    return repairs


def _repaired(sentence: str) -> Repair:
    return Repair(RepairKind.REPAIRED, sentence)


def read_forgivingly(data: bytes) -> tuple[NotebookNode, str]:
    """Read a notebook from a file's bytes.

    Returns:
        The notebook, and a sentence that says why the file could not be read as one, or ``""``.
        An unreadable file gives a notebook with one cell, which contains the sentence.
    """
    text = _decoded(data)
    try:
        return nbformat.reads(text, as_version=4), ""
    except Exception as error:  # a student's file may contain anything
        _log.debug("Not a notebook: %s", repr(error)[:500])
        why = _sentence(_line_of_a_merge(text))
        return new_notebook(cells=[new_markdown_cell(f"**{why}**")]), why


def _decoded(data: bytes) -> str:
    """The text of a file in UTF-8, or in UTF-16 as Windows PowerShell writes it."""
    utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if utf_16 else "utf-8-sig", errors="replace")


def _line_of_a_merge(text: str) -> int:
    """The number of the line with conflict markers of a git merge; 0 if there is none."""
    marks = _CONFLICT_MARK.search(text)
    return text.count("\n", 0, marks.start()) + 1 if marks else 0


def _sentence(line: int) -> str:
    """The sentence about a file that is not a notebook, with the line of a merge conflict."""
    why = f": line {line} holds the marks of a git merge" if line else ""
    return f"The file could not be read as a notebook{why}."
