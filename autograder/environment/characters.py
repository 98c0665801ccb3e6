"""Replacements for characters that an output's encoding lacks, so that printing does not fail."""

from __future__ import annotations

import codecs
import contextlib
import sys

SPELLED = {
    "✓": "OK", "✗": "X", "○": "o", "★": "*", "·": "|", "…": "...", "−": "-", "–": "-", "—": "-",
    "“": '"', "”": '"', "’": "'", "²": "^2", "×": "x", "→": "->", "≤": "<=", "≥": ">=",
}  # fmt: skip
"""ASCII replacements for characters of our own that an encoding may lack."""

_HANDLER = "fxcourse.spelled"


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(SPELLED.get(character, "?") for character in lacking), error.end


codecs.register_error(_HANDLER, _spell)


def accept_every_character(*streams: object) -> None:
    """Make streams replace characters that their encoding lacks, instead of raising.

    Windows writes to pipes in cp1252, and a machine without a locale in ASCII; neither has a ✓.
    """
    for stream in streams:
        with contextlib.suppress(AttributeError, ValueError):  # not every stream is a file
            stream.reconfigure(errors=_HANDLER)  # type: ignore[attr-defined]


def printable(text: str) -> str:
    """A text with replacements for the characters that standard output cannot encode."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, _HANDLER).decode(encoding)
