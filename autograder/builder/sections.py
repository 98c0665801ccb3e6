"""Numbered sections of a chapter, such as 3.3, and their minutes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from autograder.builder.card_headings import Card
from autograder.builder.minutes import effort
from autograder.builder.source import Cell, Chapter

NUMBERED = re.compile(r"^## (?P<number>\d+[b-z]?\.\d+) (?P<title>.+)$", re.M)
"""The heading of a section, such as ``## 3.3 Insert a node``; the builder adds the minutes."""

HEADING = re.compile(r"^## ", re.M)


@dataclass(frozen=True)
class Section:
    """A section of a chapter.

    Attributes:
        number: such as ``3.3``.
        title: its heading, without number and minutes.
        part: the chapter with only the cells of this section.
        minutes: the estimated time to read it and to do its exercises.
    """

    number: str
    title: str
    part: Chapter
    minutes: int


def with_minutes(heading: str, minutes: int) -> str:
    """Add the estimated minutes to a heading."""
    return f"{heading} ({minutes} minute{'' if minutes == 1 else 's'})"


def sections(chapter: Chapter, cards: Sequence[Card]) -> list[Section]:
    """The sections of a chapter in order; cells outside of them are left out.

    Args:
        chapter: as read.
        cards: its exercises, with their minutes.
    """
    found = []
    for heading, cells in _grouped(chapter.cells):
        part = replace(chapter, cells=tuple(cells))
        minutes = effort(part, cards).minutes
        found.append(Section(heading["number"], heading["title"], part, minutes))
    return found


def opening(chapter: Chapter) -> Chapter:
    """The part of a chapter before its first section: title, story, review questions."""
    ends = (at for at, cell in enumerate(chapter.cells) if _heading_of(cell))
    return replace(chapter, cells=chapter.cells[: next(ends, len(chapter.cells))])


def _grouped(cells: Sequence[Cell]) -> Iterator[tuple[re.Match[str], list[Cell]]]:
    """The heading of each section, with its cells up to the next heading of that level."""
    heading: re.Match[str] | None = None
    own: list[Cell] = []
    for cell in cells:
        if cell.kind == "markdown" and HEADING.search(cell.source):
            if heading:
                yield heading, own
            heading, own = _heading_of(cell), []
        own.append(cell)
    if heading:
        yield heading, own


def _heading_of(cell: Cell) -> re.Match[str] | None:
    return NUMBERED.match(cell.source) if cell.kind == "markdown" else None
