"""Ids of the cells that a chapter gives out: each says what it was given as."""

from __future__ import annotations

import hashlib
import re

from nbformat.notebooknode import NotebookNode

_OF_CODE = re.compile(r"code-([0-9a-f]{10})(-\d+)?")
_CALL = re.compile(r"""(predict|hint|debrief|progress)\([\w\s."',?=]*\)\s*(#.*)?""")
"""A call of the course, with a letter or a name of the student's choice in it."""


_DRILL = re.compile(r"""(\w+) = \.\.\.\ndrill\("[\w.]+", \1\)""")
"""A drill that nobody has begun."""


def digest_of(source: str) -> str:
    """What an id keeps of a cell's text."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:10]


def id_of_text(kind: str, source: str) -> str:
    """The id of a cell that is named after its text, if no earlier cell has the same text."""
    return f"{'text' if kind == 'markdown' else 'code'}-{digest_of(source)}"


def is_as_given(cell: NotebookNode) -> bool:
    """Whether a code cell is one of the chapter's own, with the text that it was given out with."""
    text = cell.source.strip()
    if _CALL.fullmatch(text) or _DRILL.fullmatch(text):
        return True
    named = _OF_CODE.fullmatch(str(cell.get("id")))
    return named is not None and named[1] == digest_of(cell.source)
