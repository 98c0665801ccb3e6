"""Replaces control and invisible characters in untrusted text for a terminal, log or page."""

from __future__ import annotations

import re

_SIGNS = (
    "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_UNSEEN = re.compile(f"[\x00-\x1f{_SIGNS}]+")
_UNSEEN_BUT_LINES = re.compile(f"[\x00-\x08\x0b-\x1f{_SIGNS}]+")


def in_a_line(text: str) -> str:
    """Text for a terminal or a log, in which no character moves, colors, reverses or hides text."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def visible(text: str) -> str:
    """The same for a text of several lines, which keeps line ends and tabs."""
    return _UNSEEN_BUT_LINES.sub("\N{REPLACEMENT CHARACTER}", text)
