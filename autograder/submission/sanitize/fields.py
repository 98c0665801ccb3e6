"""Single values of a notebook: pictures, counts, links in formulas, halves of characters."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
LINK_IN_FORMULA = re.compile(r"\\href\s*\{\s*(?!https?://|#|mailto:)[^}]*\}?", re.I)
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]+"
)
PICTURES = ("image/png", "image/jpeg", "image/gif")


def in_a_line(text: str) -> str:
    """Text for a terminal or a log: nothing in it moves, colours, turns round or hides a thing."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


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
