"""Reads HTML so strictly that every browser reads it in the same way."""

from __future__ import annotations

import html
import re

from autograder.submission.sanitize.policy import (
    _EMPTY,
    _ID,
    _MAY_STAY_OPEN,
    _OUR_IDS,
    ACTIVE,
    TAGS,
    _is_kept_whole,
    allowed,
)

_TAG = re.compile(
    r"<(/?)([A-Za-z][A-Za-z0-9-]*)"
    r"((?:\s+[A-Za-z_][\w.:-]*(?:\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'=<>`]+))?)*)\s*/?>"
)
_ATTRIBUTE = re.compile(r"([A-Za-z_][\w.:-]*)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?")
_BEGINS = re.compile(r"<[A-Za-z/!?]")
_HIDES = frozenset(("hidden", "inert", "popover", "contenteditable"))


class Html:
    """Reads HTML piece by piece, and notes what is not harmless in it.

    Attributes:
        found: what is not harmless, in a few fixed words.
    """

    def __init__(self, *, ids: bool = False) -> None:
        self.found: dict[str, None] = {}
        self._open: dict[str, list[int]] = {}  # where each tag was opened that is open, by name
        self._count = 0
        self._ids = ids

    def read(self, piece: str) -> str:
        """Read a piece; it comes back with all that is not harmless taken out or escaped."""
        out, at = [], 0
        while (start := piece.find("<", at)) >= 0:
            out.append(piece[at:start])
            text, at = self._markup(piece, start)
            out.append(text)
        return "".join([*out, piece[at:]])

    def closers(self) -> list[str]:
        """The tags that must be closed, innermost first, lest what follows stands in them."""
        places = [
            (place, tag)
            for tag, opened in self._open.items()
            for place in opened
            if tag not in _MAY_STAY_OPEN
        ]
        return [tag for _, tag in sorted(places, reverse=True)]

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
        if closes:
            return self._end(tag, name)
        kept = [part for part in _ATTRIBUTE.finditer(tag[3]) if self._may_stay(name, part)]
        kept = list({part[1].lower(): part for part in reversed(kept)}.values())[::-1]
        if name in TAGS - _EMPTY:
            self._count += 1
            self._open.setdefault(name, []).append(self._count)
        if len(kept) == len(_ATTRIBUTE.findall(tag[3])):
            return tag[0]
        return f"<{tag[2]}{''.join(' ' + part[0] for part in kept)}>"

    def _end(self, tag: re.Match[str], name: str) -> str:
        if self._open.get(name):
            self._open[name].pop()
        elif name in TAGS and name not in ("p", "br"):
            self._note("an end of a tag that was not open")
            return "&lt;" + tag[0][1:]
        return tag[0]

    def _may_stay(self, tag: str, part: re.Match[str]) -> bool:
        name, value = part[1].lower(), html.unescape((part[2] or "").strip("\"'"))
        if name == "style":
            good = tag in TAGS and _is_kept_whole(value)
        elif name in ("id", "name") and self._ids and part[2]:
            good = tag in TAGS and bool(_ID.fullmatch(value)) and not _OUR_IDS.match(value)
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
