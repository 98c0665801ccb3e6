"""The line in a notebook of ``course`` that names its source, for people who change the course."""

from __future__ import annotations

import re

_LINE = re.compile(r"\n+\*This notebook is generated from [^*]+\*\s*$")


def with_origin(text: str, source: str) -> str:
    """Add the line to the text of a chapter's first cell.

    Args:
        text: the text of the cell.
        source: the name of the file in ``solutions``.
    """
    return (
        f"{text}\n\n*This notebook is generated from `solutions/{source}`. "
        "It is yours to work in. To change the course itself, edit that file.*"
    )


def without_origin(text: str) -> str:
    """Remove the line, because a learner does not have that file."""
    return _LINE.sub("", text)
