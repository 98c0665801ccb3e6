"""Turns references in prose into links: `03b_effects`, chapter 3, sections 3.1 and 3.2."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote

from autograder.book.headings import Heading, number_of

_FENCED = re.compile(r"(^[ \t]*(?:```|~~~).*?^[ \t]*(?:```|~~~)\s*?$)", re.M | re.S)
_LINK = re.compile(r"\[(?P<text>[^\]\[]*)\]\((?P<to>[^)\s]+)\)")
_NOTEBOOK = re.compile(r"(?<!`)`(\d\d[b-z]?_\w+)`(?!`)")
_KEPT = re.compile(r"(!?\[[^\]\[]*\]\([^)\s]+\)|`+[^`]+`+|^#.*$|^\(.+\)=$)", re.M)
_CHAPTER, _SECTION = r"\d+[b-z]?", r"\d+[b-z]?\.\d+"
_WHOLE = rf"{_CHAPTER}(?![.\d])"
_AND = r"(?:, and |, | and | to | or )"
_CHAPTERS = re.compile(rf"\b[Cc]hapters? {_WHOLE}(?:{_AND}{_WHOLE})*")
_SECTIONS = re.compile(rf"\b[Ss]ections? {_SECTION}(?:{_AND}{_SECTION})*")


class Links:
    """The chapters and sections of the book that links can lead to."""

    def __init__(self, found: Sequence[Heading]) -> None:
        """Index the headings of all chapters of the book."""
        titles = [each for each in found if each.level == 1]
        self._notebooks = {each.chapter: each.label for each in titles}
        self._chapters = {number_of(each.chapter): each.label for each in titles}
        self._sections = {each.number: each.label for each in found if each.number}
        self._anchors = {(each.chapter, each.anchor): each.label for each in found}

    def linked(self, text: str, chapter: str = "") -> str:
        """A text in markdown with its references as links.

        Args:
            text: references to places outside of the book remain words.
            chapter: the notebook that contains the text.
        """
        parts = _FENCED.split(text)
        return "".join(
            part if at % 2 else self._linked(part, chapter) for at, part in enumerate(parts)
        )

    def _linked(self, text: str, chapter: str) -> str:
        text = _LINK.sub(lambda found: self._own(found, chapter), text)
        text = _NOTEBOOK.sub(lambda found: self._named(found, chapter), text)
        parts = _KEPT.split(text)
        return "".join(
            part if at % 2 else self._numbers(part, number_of(chapter))
            for at, part in enumerate(parts)
        )

    def _own(self, found: re.Match[str], chapter: str) -> str:
        """Convert a link to a notebook that JupyterLab follows."""
        name, _, anchor = found["to"].partition("#")
        if not name.endswith(".ipynb") and (name or not anchor):
            return found[0]
        anchor = unquote(anchor)
        name = name.removesuffix(".ipynb").rpartition("/")[2] or chapter
        if anchor and (name, anchor) in self._anchors:
            return f"[{found['text']}](#{self._anchors[name, anchor]})"
        if not anchor and name in self._notebooks:
            return f"[{found['text']}](#{self._notebooks[name]})"
        return found["text"] if found["to"].partition("#")[0] else found[0]  # not in this book

    def _named(self, found: re.Match[str], chapter: str) -> str:
        known = found[1] in self._notebooks and found[1] != chapter
        return f"[{found[0]}](#{self._notebooks[found[1]]})" if known else found[0]

    def _numbers(self, text: str, here: str) -> str:
        others = {number: label for number, label in self._chapters.items() if number != here}
        text = _SECTIONS.sub(_each(_SECTION, self._sections), text)
        return _CHAPTERS.sub(_each(_CHAPTER, others), text)


def _each(one: str, places: dict[str, str]) -> Callable[[re.Match[str]], str]:
    """Replace each number in a list by a link; a single number is linked with its noun."""

    def link(found: re.Match[str]) -> str:
        numbers = re.findall(one, found[0])
        if len(numbers) == 1:
            return _linked(found[0], places.get(numbers[0]))
        return re.sub(one, lambda number: _linked(number[0], places.get(number[0])), found[0])

    return link


def _linked(text: str, label: str | None) -> str:
    return f"[{text}](#{label})" if label else text
