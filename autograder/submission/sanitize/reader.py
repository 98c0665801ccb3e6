"""Reads HTML so strictly that every browser reads it in the same way."""

from __future__ import annotations

import html
import re
from collections.abc import Container

from autograder.submission.sanitize.policy import (
    ACTIVE,
    EMPTY,
    MAY_STAY_OPEN,
    TAGS,
    allowed,
    may_be_id,
)
from autograder.submission.sanitize.styles import is_harmless_style

# Only HTML's own spaces count. A non-breaking space is part of a name there, so a quoted text after
# it would be read as attributes.
_BLANK = r"[ \t\n\r\f]"
_VALUE = rf"{_BLANK}*={_BLANK}*(\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'=<>`]+)"
_PART = rf"([A-Za-z_][\w.:-]*)(?:{_VALUE})?"
_MOST_PARTS = 99
_TAG = re.compile(
    rf"<(/?)([A-Za-z][A-Za-z0-9-]*)((?:{_BLANK}+{_PART}){{0,{_MOST_PARTS}}}){_BLANK}*/?>", re.A
)
_ATTRIBUTE = re.compile(_PART, re.A)
_BEGINS = re.compile(r"<[A-Za-z/!?]")
_CLOSED_BY_OTHERS = MAY_STAY_OPEN - {"rp", "rt"}
"""Tags that need no end tag: they can be nested only with another tag in between."""
_DEEPEST, _MOST_STEPS, _MOST_TAGS = 200, 1_000_000, 100_000
_HIDES = frozenset(("hidden", "inert", "popover", "contenteditable"))


class Html:
    """Reads HTML piece by piece, and records the harmful parts.

    Args:
        taken: the ids that the page uses already; ``None`` if no ids are allowed here.

    Attributes:
        found: the harmful parts, in a few fixed words.
    """

    def __init__(self, *, taken: Container[str] | None = None) -> None:
        self.found: dict[str, None] = {}
        self._open: dict[str, list[int]] = {}  # by name, the positions of tags that are still open
        self._count = self._depth = self._deepest = self._steps = 0
        self._taken = taken

    def read(self, piece: str) -> str:
        """Read a piece, and return it with harmful parts removed or escaped."""
        out, at = [], 0
        while (start := piece.find("<", at)) >= 0:
            out.append(piece[at:start])
            text, at = self._markup(piece, start)
            out.append(text)
        return "".join([*out, piece[at:]])

    def closers(self) -> list[str]:
        """The tags to close, innermost first, so that the following text is not inside them."""
        places = [
            (place, tag)
            for tag, opened in self._open.items()
            for place in opened
            if tag in TAGS - MAY_STAY_OPEN
        ]
        return [tag for _, tag in sorted(places, reverse=True)]

    def is_too_much(self) -> bool:
        """Whether parsers may be too slow for it: their time grows with the squares of these."""
        return self._count > _MOST_TAGS or self._deepest > _DEEPEST or self._steps > _MOST_STEPS

    def _markup(self, piece: str, start: int) -> tuple[str, int]:
        tag = _TAG.match(piece, start)
        if tag:
            return self._tag(tag), tag.end()
        if piece.startswith("<!--", start):
            end = piece.find("--", start + 4)
            if end >= 0 and piece[end : end + 3] == "-->" and piece[start + 4] not in ">-":
                return piece[start : end + 3], end + 3
        if _BEGINS.match(piece, start):
            self._note("markup that is not complete")
            return "&lt;", start + 1
        return "<", start + 1

    def _tag(self, tag: re.Match[str]) -> str:
        closes, name = tag[1], tag[2].lower()
        if name in ACTIVE:
            self._note(f"`{name}`")
            return "&lt;" + tag[0][1:]
        self._steps += self._depth
        if closes:
            return self._end(tag, name)
        kept = [part for part in _ATTRIBUTE.finditer(tag[3]) if self._may_stay(name, part)]
        kept = list({part[1].lower(): part for part in reversed(kept)}.values())[::-1]
        self._count += 1
        if name not in EMPTY:
            self._open.setdefault(name, []).append(self._count)
            self._deeper(name, 1)
        if len(kept) == len(_ATTRIBUTE.findall(tag[3])):
            return tag[0]
        return f"<{tag[2]}{''.join(' ' + part[0] for part in kept)}>"

    def _end(self, tag: re.Match[str], name: str) -> str:
        if self._open.get(name):
            self._open[name].pop()
            self._deeper(name, -1)
        elif name in TAGS and name not in ("p", "br"):
            self._note("an end of a tag that was not open")
            return "&lt;" + tag[0][1:]
        return tag[0]

    def _deeper(self, name: str, by: int) -> None:
        if name not in _CLOSED_BY_OTHERS:
            self._depth += by
            self._deepest = max(self._deepest, self._depth)

    def _may_stay(self, tag: str, part: re.Match[str]) -> bool:
        name, value = part[1].lower(), part[2] or ""
        value = html.unescape(value[1:-1] if value[:1] in ("'", '"') else value)
        if name == "style":
            good = tag in TAGS and is_harmless_style(value)
        elif (name == "id" or (tag, name) == ("a", "name")) and self._taken is not None and part[2]:
            # Other tags with a name would shadow names used by scripts, such as `document.body`.
            good = tag in TAGS and may_be_id(value, self._taken)
        elif tag not in TAGS:
            good = part[2] is None and name not in _HIDES
        else:
            good = allowed(tag, name, value)
        if not good:
            self._note(_kind(name))
        return good

    def _note(self, what: str) -> None:
        self.found[what] = None


def _kind(attribute: str) -> str:
    if attribute.startswith("on"):
        return "an event handler"
    if attribute in ("href", "src", "xlink:href", "srcset", "action", "formaction"):
        return "a link that is not safe"
    if attribute == "style":
        return "a style"
    return "an attribute"
