"""The record of cases that a class's feedback pages show after the last extension."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.classroom.lateness.deadlines import NoTime, in_utc

NAME = "revealed.jsonl"
FILE = f".fxcourse/{NAME}"
"""The file in a classroom; a line for each `reveal`."""

AFTER = "after the cases were shown"
"""The mark of work that was handed in later."""


@dataclass(frozen=True)
class Reveal:
    """Cases of a chapter that students may see.

    Attributes:
        chapter: the chapter.
        at: the time of the command, in UTC.
        course: the version of the course, whose hidden cases are known now.
        cases: the hidden cases, as ``exercise: case``; none if only random models are shown.
        pool: the number of the pool of random models at that time.
    """

    chapter: str
    at: str
    course: str
    cases: tuple[str, ...]
    pool: int

    @property
    def time(self) -> datetime | None:
        """The time, in UTC without a time zone; ``None`` if it cannot be read."""
        try:
            return in_utc(self.at, UTC)
        except NoTime:
            return None


def reveals(room: Path) -> list[Reveal]:
    """The reveals of a classroom, oldest first."""
    return list(_parsed(_lines(room)))


def reveals_of(room: Path, chapter: str) -> list[Reveal]:
    """The reveals of a chapter, oldest first."""
    return [one for one in reveals(room) if one.chapter == chapter]


def first_times(room: Path) -> dict[str, datetime]:
    """By chapter, the time of the first reveal."""
    times = [(one.chapter, one.time) for one in reversed(reveals(room))]
    return {chapter: time for chapter, time in times if time}


def add(room: Path, reveal: Reveal) -> None:
    """Add a reveal."""
    _write(room, [*_lines(room), json.dumps(asdict(reveal))])


def remove_last(room: Path) -> Reveal | None:
    """Remove the last reveal, and return it."""
    lines = _lines(room)
    while lines:
        if found := list(_parsed([lines.pop()])):
            _write(room, lines)
            return found[0]
    return None


def _lines(room: Path) -> list[str]:
    path = room / FILE
    return path.read_text("utf-8", "replace").splitlines() if path.exists() else []


def _parsed(lines: Iterable[str]) -> Iterator[Reveal]:
    for line in lines:
        try:
            row = json.loads(line)
            yield Reveal(**{**row, "cases": tuple(map(str, row["cases"]))})
        except (ValueError, TypeError, KeyError):
            continue  # the line was cut off when the machine stopped


def _write(room: Path, lines: list[str]) -> None:
    path = room / FILE
    path.parent.mkdir(mode=0o700, exist_ok=True)
    building = path.with_suffix(".new")
    building.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    os.replace(building, path)
