"""Headings of a chapter, with the labels by which pages link to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat.notebooknode import NotebookNode

_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^(#{1,4}) +(.+?)\s*$")
_NUMBER = re.compile(r"^(\d+[b-z]?\.\d+) +")
_EXERCISE = re.compile(r"^Exercise \S+ `(\w+)`")
_MINUTES = re.compile(r" \(\d+ minutes?\)$")
_EFFORT = re.compile(
    r"(?: · (?:★+|\d+ minutes?|\d+ points?))+$| \([^()]*\b(?:minutes?|seconds?)\)$"
)


@dataclass(frozen=True)
class Heading:
    """A heading of a chapter.

    Attributes:
        chapter: the notebook, such as ``03_manipulation``.
        level: 1 for the chapter's title, 2 for a section.
        text: as written.
        label: its label in the book, which is unique.
        cell: the index of its cell.
        line: the index of its line in the cell.
    """

    chapter: str
    level: int
    text: str
    label: str
    cell: int
    line: int

    @property
    def number(self) -> str:
        """The number of a section, such as ``3.1``; empty if it has none."""
        found = _NUMBER.match(self.text)
        return found[1] if found else ""

    @property
    def bare(self) -> str:
        """The text without number and minutes, as in `tests.questions`."""
        return _MINUTES.sub("", _NUMBER.sub("", self.text))

    @property
    def place(self) -> str:
        """The heading's name on other pages, with the number of the section or the chapter."""
        exercise = _EXERCISE.match(self.text)
        if exercise:
            return exercise[0]
        number = self.number or f"{number_of(self.chapter)} ·"
        return f"{number} {self.bare}"

    @property
    def anchor(self) -> str:
        """JupyterLab's name for the heading in a link."""
        return self.text.replace(" ", "-")


def title_alone(text: str) -> str:
    """The text of a heading without stars, minutes and points, for a table of contents."""
    return _EFFORT.sub("", text)


def number_of(chapter: str) -> str:
    """The number of a chapter in prose: ``3b`` for ``03b_effects``."""
    return chapter.partition("_")[0].removeprefix("0")


def headings(chapter: str, notebook: NotebookNode) -> list[Heading]:
    """The headings of a notebook, in order."""
    found: list[Heading] = []
    taken: set[str] = set()
    for level, text, cell, line in _read(notebook):
        wanted = label = _label(chapter, level, text)
        more = 2
        while label in taken:
            label, more = f"{wanted}-{more}", more + 1
        taken.add(label)
        found.append(Heading(chapter, level, text, label, cell, line))
    return found


def _read(notebook: NotebookNode) -> Iterator[tuple[int, str, int, int]]:
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "markdown":
            continue
        fenced = False
        for at, line in enumerate(cell.source.split("\n")):
            if _FENCE.match(line):
                fenced = not fenced
            found = None if fenced else _HEADING.match(line)
            if found:
                yield len(found[1]), found[2], index, at


def _label(chapter: str, level: int, text: str) -> str:
    if level == 1:
        return f"chapter-{chapter}"
    exercise, number = _EXERCISE.match(text), _NUMBER.match(text)
    if exercise:
        return f"exercise-{exercise[1].lower()}"
    if number:
        return f"section-{number[1]}"
    words = re.sub(r"[^a-z0-9]+", "-", _MINUTES.sub("", text).lower()).strip("-")
    return f"{chapter}-{words}"
