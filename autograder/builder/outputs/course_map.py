"""Generates ``autograder/lessons/map.json``, the map of chapters, sections and tracks."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder.builder.card_headings import Card, found_exercises
from autograder.builder.cell_ids import id_of_text
from autograder.builder.drills import drill_of
from autograder.builder.minutes import effort
from autograder.builder.paths import LESSONS, chapters
from autograder.builder.predictions import (
    is_prediction,
    parts_of,
    prediction,
    question_source,
)
from autograder.builder.problems import BuildRefused, Problem
from autograder.builder.sections import Section, opening, sections
from autograder.builder.source import Chapter, read
from autograder.lessons.course_map import number_of

TRACKS = LESSONS / "tracks.toml"

_TITLE = re.compile(r"^# \d+[b-z]? · (.+)$", re.M)
_CAN = re.compile(r"^\*\*After this (?:chapter|part) you can (.+)\.\*\*$", re.M)
_NEEDS = re.compile(r"^\| \*\*You need\*\* \| (.+) \|$", re.M)
_HEADING = re.compile(r"^### (.+)$", re.M)
_FACTS = {
    "title": (_TITLE, "# 3 · Title"),
    "can": (_CAN, "**After this chapter you can ... .**"),
    "needs": (_NEEDS, "| **You need** | ... |"),
}
"""The facts in a chapter's first cell, each with the form in which to write it."""

_RANGE = re.compile(r"(?P<chapter>\d+[b-z]?)(?:\.(?P<first>\d+)(?:-(?P=chapter)\.(?P<last>\d+))?)?")


def map_text(paths: Sequence[Path] | None = None, tracks: Path = TRACKS) -> str:
    """The text of ``map.json``; equal sources give equal text.

    Args:
        paths: the sources of all chapters in course order; by default those in ``solutions``.
        tracks: the file with the tracks.

    Raises:
        BuildRefused: a chapter's first cell lacks a fact, or a track names an unknown section.
    """
    found = [_Counted(path) for path in (chapters() if paths is None else paths)]
    rows = {each.chapter.name: each.row() for each in found}
    by_number = {number_of(each.chapter.name): each for each in found}
    text = tracks.read_text(encoding="utf-8")
    ways = {
        name: _track(row, by_number, lambda item: _unknown(tracks, text, item))
        for name, row in tomllib.loads(text).items()
    }
    return json.dumps({"chapters": rows, "tracks": ways}, indent=1, ensure_ascii=False) + "\n"


class _Counted:
    """A chapter with its sections and minutes."""

    def __init__(self, path: Path) -> None:
        self.chapter, _ = read(path)
        self.cards = found_exercises(self.chapter.name)
        self.sections = sections(self.chapter, self.cards)

    def row(self) -> dict[str, Any]:
        """The chapter's entry in the map."""
        first = self.chapter.cells[0]
        facts = {}
        for name, (pattern, form) in _FACTS.items():
            fact = pattern.search(first.source)
            if fact is None:
                problem = Problem(first.line, f"The first cell lacks '{name}'.", f"Write '{form}'.")
                raise BuildRefused(self.chapter.path, [problem])
            facts[name] = fact[1]
        marks = _marks(self.chapter)
        return {
            **facts,
            "minutes": effort(self.chapter, self.cards).about,
            "sections": [_section(each, self.cards, marks) for each in self.sections],
        }

    def minutes_of(self, numbers: Sequence[str]) -> int:
        """The minutes of some sections, with the chapter's opening if the first one is there."""
        if len(numbers) == len(self.sections):
            return effort(self.chapter, self.cards).minutes
        before = effort(opening(self.chapter), self.cards).minutes
        begins = bool(numbers) and numbers[0] == self.sections[0].number
        own = sum(each.minutes for each in self.sections if each.number in numbers)
        return own + before * begins


def _marks(chapter: Chapter) -> dict[int, str]:
    """The marks of a chapter's predictions, by the line of their cells."""
    return {
        cell.line: prediction(parts_of(cell), chapter.name, 0).mark
        for cell in chapter.cells
        if is_prediction(cell)
    }


def _section(section: Section, cards: Sequence[Card], marks: dict[int, str]) -> dict[str, Any]:
    names = {card.name for card in cards}
    return {
        "number": section.number,
        "title": section.title,
        "minutes": section.minutes,
        "cell": id_of_text("markdown", _as_given(section.part)),
        "exercises": [c.value for c in section.part.tagged("card") if c.value in names],
        "headings": dict(_headings(section.part, names)),
        "predictions": [marks[c.line] for c in section.part.cells if c.line in marks],
        "drills": [drill_of(cell).mark for cell in section.part.tagged("drill")],
    }


def _headings(part: Chapter, names: Collection[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each exercise with the first heading between it and the next exercise, if there is one."""
    exercise = ""
    for cell in part.cells:
        heading = _HEADING.match(cell.source) if cell.kind == "markdown" else None
        if cell.tag == "card":
            exercise = cell.value
        elif heading and exercise in names and not is_prediction(cell):
            yield exercise, {"title": heading[1], "cell": id_of_text("markdown", cell.source)}
            exercise = ""


def _as_given(part: Chapter) -> str:
    """The released text of a section's first cell, without the minutes."""
    first = part.cells[0]
    if not is_prediction(first):
        return first.source
    parts = parts_of(first)
    return question_source(parts, prediction(parts, part.name, 0))


def _track(row: dict[str, Any], known: dict[str, _Counted], unknown: Any) -> dict[str, Any]:
    """A track's entry in the map: its sections by chapter, and its minutes."""
    parts: dict[str, list[str]] = {}
    minutes = 0
    for item in row.pop("content"):
        found = _RANGE.fullmatch(item)
        counted = known.get(found["chapter"]) if found else None
        if found is None or counted is None:
            raise unknown(item)
        numbers = list(_numbers(found, counted.sections))
        if not numbers:
            raise unknown(item)
        parts.setdefault(counted.chapter.name, []).extend(numbers)
    for each in known.values():
        if each.chapter.name in parts:
            minutes += each.minutes_of(parts[each.chapter.name])
    return {**row, "minutes": minutes, "parts": parts}


def _numbers(found: re.Match[str], known: Sequence[Section]) -> Iterator[str]:
    """The sections that an item such as ``3.1-3.4`` names; none if one of them does not exist."""
    if found["first"] is None:
        yield from (section.number for section in known)
        return
    last = int(found["last"] or found["first"])
    wanted = [f"{found['chapter']}.{n}" for n in range(int(found["first"]), last + 1)]
    if set(wanted) <= {section.number for section in known}:
        yield from wanted


def _unknown(path: Path, text: str, item: str) -> BuildRefused:
    """The error for a track that names an unknown chapter or section."""
    line = 1 + text.count("\n", 0, max(text.find(f'"{item}"'), 0))
    message = f"There is no chapter or section '{item}'."
    return BuildRefused(path, [Problem(line, message, "Write '3', '3b.2' or '3.1-3.4'.")])
