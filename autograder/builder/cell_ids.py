"""Cell ids in released notebooks: an id records the text with which a cell was released."""

from __future__ import annotations

import hashlib
import re

from nbformat.notebooknode import NotebookNode

_CODE_ID = re.compile(r"code-([0-9a-f]{10})(-\d+)?")
_CALL = re.compile(r"""(predict|hint|debrief|progress|ask_me)\([\w\s."',?=]*\)\s*(#.*)?""")
"""A call of the course, with a letter or a name that the student chose."""


_DRILL = re.compile(r"""(\w+) = \.\.\.\ndrill\("[\w.]+", \1\)""")
"""A drill that the learner has not begun."""


def digest_of(source: str) -> str:
    """The digest of a cell's text, which becomes part of the cell's id."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:10]


def id_of_text(kind: str, source: str) -> str:
    """The id of a cell that is named after its text, if no earlier cell has the same text."""
    return f"{'text' if kind == 'markdown' else 'code'}-{digest_of(source)}"


def is_as_given(cell: NotebookNode) -> bool:
    """Whether a code cell comes from the chapter and its text is unchanged."""
    text = cell.source.strip()
    if _CALL.fullmatch(text) or _DRILL.fullmatch(text):
        return True
    named = _CODE_ID.fullmatch(str(cell.get("id")))
    return named is not None and named[1] == digest_of(cell.source)
