"""Single values of a notebook: pictures, counts, links in formulas, lone surrogates."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
LINK_IN_FORMULA = re.compile(r"\\href\s*\{\s*(?!https?://|#|mailto:)[^}]*\}?", re.I)
PICTURES = ("image/png", "image/jpeg", "image/gif")


def valid_picture(value: Any) -> str | None:
    """The base64 text of a picture; ``None`` if it is invalid."""
    try:
        text = re.sub(r"\s+", "", joined(value))
        return text if text and base64.b64decode(text, validate=True) else None
    except (binascii.Error, ValueError):
        return None


def whole_number(value: Any) -> int | None:
    """An integer; ``None`` for another value."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def joined(text: Any) -> str:
    """A text, or a list of lines joined to a text."""
    if isinstance(text, list):
        return "".join(part for part in text if isinstance(part, str))
    return text if isinstance(text, str) else ""
