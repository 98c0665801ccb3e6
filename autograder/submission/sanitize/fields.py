"""Single values of a notebook: pictures, counts, links in formulas, halves of characters."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
LINK_IN_FORMULA = re.compile(r"\\href\s*\{\s*(?!https?://|#|mailto:)[^}]*\}?", re.I)
PICTURES = ("image/png", "image/jpeg", "image/gif")


def valid_picture(value: Any) -> str | None:
    """A picture in base64, if it is one."""
    try:
        text = re.sub(r"\s+", "", joined(value))
        return text if text and base64.b64decode(text, validate=True) else None
    except (binascii.Error, ValueError):
        return None


def whole_number(value: Any) -> int | None:
    """A number, if it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def joined(text: Any) -> str:
    """A text that may be a list of lines, as one."""
    if isinstance(text, list):
        return "".join(part for part in text if isinstance(part, str))
    return text if isinstance(text, str) else ""
