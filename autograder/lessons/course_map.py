"""The map of the course: chapters, sections and tracks, with the estimated minutes of each.

``fxcourse build`` generates ``map.json`` from the chapters' sources and from ``tracks.toml``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "map.json"

SHORT = 90
"""Times up to this many minutes are given in minutes, longer ones in hours."""


@dataclass(frozen=True)
class Section:
    """A section of a chapter.

    Attributes:
        number: such as ``3.3``.
        title: its heading, in markdown.
        minutes: the estimated time to read it and to do its exercises.
        cell: the id of the cell with its heading.
        exercises: their names, in order.
        headings: by exercise, the title and the cell of the heading after it in the section.
        predictions: the marks of its predictions, in order.
        drills: the marks of its drills, in order.
    """

    number: str
    title: str
    minutes: int
    cell: str
    exercises: tuple[str, ...]
    headings: dict[str, dict[str, str]] = field(hash=False)
    predictions: tuple[str, ...]
    drills: tuple[str, ...]


@dataclass(frozen=True)
class Chapter:
    """A chapter, or a deep dive.

    Attributes:
        name: the stem of its notebook, such as ``03_manipulation``.
        title: its title without the number, in markdown.
        can: the rest of the sentence "afterwards you can ...".
        needs: its requirements, in markdown.
        minutes: the estimated time for all of it, a multiple of five.
        sections: in order.
    """

    name: str
    title: str
    can: str
    needs: str
    minutes: int
    sections: tuple[Section, ...]

    @property
    def number(self) -> str:
        """The number in prose: ``3b`` for ``03b_effects``."""
        return number_of(self.name)

    @property
    def is_deep_dive(self) -> bool:
        """Whether a learner can continue without it, unless its first cell says otherwise."""
        return is_deep_dive(self.name)

    @property
    def exercises(self) -> tuple[str, ...]:
        """The names of its exercises, in order."""
        return tuple(name for section in self.sections for name in section.exercises)


@dataclass(frozen=True)
class Part:
    """The part of a chapter that belongs to a track.

    Attributes:
        chapter: the chapter.
        sections: the sections that belong to the track.
    """

    chapter: Chapter
    sections: tuple[Section, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all of the chapter belongs to the track."""
        return self.sections == self.chapter.sections

    def __str__(self) -> str:
        if self.is_whole:
            return self.chapter.number
        return ", ".join(_ranges(self.sections, self.chapter.sections))


@dataclass(frozen=True)
class Track:
    """A path through the course.

    Attributes:
        name: the word for commands.
        title: the name for readers.
        about: one sentence.
        needs: its requirements, in markdown.
        ends: its last result, in markdown.
        minutes: the estimated time.
        parts: its chapters, or parts of them, in course order.
    """

    name: str
    title: str
    about: str
    needs: str
    ends: str
    minutes: int
    parts: tuple[Part, ...]

    @property
    def chapters(self) -> tuple[str, ...]:
        """The names of its chapters."""
        return tuple(part.chapter.name for part in self.parts)

    @property
    def exercises(self) -> tuple[str, ...]:
        """The names of its exercises."""
        sections = (section for part in self.parts for section in part.sections)
        return tuple(name for section in sections for name in section.exercises)

    @property
    def content(self) -> str:
        """Its chapters and sections in words, such as ``0 to 15, 3b.2``."""
        main = [part for part in self.parts if not part.chapter.is_deep_dive]
        numbers = [str(part) for part in main]
        if len(main) > 1 and numbers == [str(number) for number in range(len(main))]:
            deep = [str(part) for part in self.parts if part.chapter.is_deep_dive]
            return ", ".join([f"{numbers[0]} to {numbers[-1]}", *deep])
        return ", ".join(map(str, self.parts))

    @property
    def time(self) -> str:
        """The estimated time in words, such as ``4 hours``."""
        return time_in_words(self.minutes)


class NoTrack(ValueError):
    """No track has this name; the message lists all tracks."""


@dataclass(frozen=True)
class CourseMap:
    """The map of the course.

    Attributes:
        chapters: in course order, each deep dive after its chapter.
        tracks: in the order of ``tracks.toml``.
    """

    chapters: tuple[Chapter, ...]
    tracks: tuple[Track, ...]

    def after(self, exercise: str, chapters: Collection[str]) -> Step | None:
        """The next step after an exercise: in its section, its chapter, or the next chapter.

        Args:
            exercise: its name.
            chapters: the names of the chapters that the learner has.

        Returns:
            None after the last chapter, and for an exercise that is not on the map. Other chapters'
            deep dives are skipped.
        """
        for at, chapter in enumerate(self.chapters):
            if exercise in chapter.exercises:
                main = (each for each in self.chapters[at + 1 :] if not each.is_deep_dive)
                others = map(_step_to, (each for each in main if each.name in chapters))
                inside = _steps_after(exercise, chapter) if chapter.name in chapters else ()
                return next(chain(inside, others), None)
        return None

    def limited_to(self, names: Collection[str]) -> CourseMap:
        """The map of some chapters, with the tracks that need no others.

        Args:
            names: the names of the chapters.
        """
        chapters = tuple(each for each in self.chapters if each.name in names)
        tracks = tuple(each for each in self.tracks if set(each.chapters) <= set(names))
        return CourseMap(chapters, tracks)


@dataclass(frozen=True)
class Step:
    """A place to continue.

    Attributes:
        title: such as ``3.3 One op more``, or the name of an exercise.
        chapter: the stem of the notebook.
        cell: the id of the cell; empty for the beginning of the notebook.
    """

    title: str
    chapter: str
    cell: str = ""


def _steps_after(exercise: str, chapter: Chapter) -> Iterator[Step]:
    """The steps in the rest of a section, then in the rest of its chapter."""
    numbers = [exercise in section.exercises for section in chapter.sections]
    here = numbers.index(True)
    names = chapter.sections[here].exercises
    if heading := chapter.sections[here].headings.get(exercise):
        yield Step(heading["title"], chapter.name, heading["cell"])
    for name in names[names.index(exercise) + 1 :]:
        yield Step(name, chapter.name, f"card-{name}")
    for section in chapter.sections[here + 1 :]:
        yield Step(f"{section.number} {section.title}", chapter.name, section.cell)


def _step_to(chapter: Chapter) -> Step:
    return Step(f"{chapter.number} · {chapter.title}", chapter.name)


@cache
def course_map() -> CourseMap:
    """The map of the installed course."""
    return map_from(FILE.read_text(encoding="utf-8"))


def map_from(text: str) -> CourseMap:
    """Read a map from the text of a ``map.json``."""
    data = json.loads(text)
    chapters = {name: _chapter(name, row) for name, row in data["chapters"].items()}
    tracks = (_track(name, row, chapters) for name, row in data["tracks"].items())
    return CourseMap(tuple(chapters.values()), tuple(tracks))


def chapters() -> tuple[Chapter, ...]:
    """All chapters in course order, each deep dive after its chapter."""
    return course_map().chapters


def tracks() -> tuple[Track, ...]:
    """All tracks, in the order of ``tracks.toml``."""
    return course_map().tracks


def track_called(name: str) -> Track:
    """The track with this name.

    Raises:
        NoTrack: there is none.
    """
    for track in tracks():
        if track.name == name:
            return track
    names = ", ".join(track.name for track in tracks())
    raise NoTrack(f"There is no track '{name}'. Tracks: {names}.")


def number_of(chapter: str) -> str:
    """The number of a chapter in prose: ``3b`` for ``03b_effects``."""
    number = chapter.partition("_")[0]
    return number[1:] if number.startswith("0") else number


def is_deep_dive(chapter: str) -> bool:
    """Whether a chapter is a deep dive, such as ``03b_effects``."""
    return chapter.partition("_")[0][2:] != ""


def time_in_words(minutes: int) -> str:
    """A time in minutes, or to half an hour: ``25 minutes``, ``4 hours``, ``2½ hours``."""
    if minutes <= SHORT:
        return f"{minutes} minute{'' if minutes == 1 else 's'}"
    halves = round(minutes / 30)
    return f"{halves // 2}{'½' if halves % 2 else ''} hours"


def _ranges(some: tuple[Section, ...], every: tuple[Section, ...]) -> Iterator[str]:
    """Sections in words, such as ``6.1-6.5`` and ``6.7``."""
    run: list[Section] = []
    for section in every:
        if section in some:
            run.append(section)
        elif run:
            yield _range(run)
            run = []
    if run:
        yield _range(run)


def _range(run: list[Section]) -> str:
    return run[0].number if len(run) == 1 else f"{run[0].number}-{run[-1].number}"


def _chapter(name: str, row: dict[str, Any]) -> Chapter:
    facts = {key: value for key, value in row.items() if key != "sections"}
    return Chapter(name, **facts, sections=tuple(map(_section, row["sections"])))


def _section(row: dict[str, Any]) -> Section:
    lists = {key: tuple(row[key]) for key in ("exercises", "predictions", "drills")}
    return Section(**{**row, **lists})


def _track(name: str, row: dict[str, Any], known: dict[str, Chapter]) -> Track:
    facts = {key: value for key, value in row.items() if key != "parts"}
    parts = []
    for chapter, numbers in row["parts"].items():
        sections = tuple(each for each in known[chapter].sections if each.number in numbers)
        parts.append(Part(known[chapter], sections))
    return Track(name, **facts, parts=tuple(parts))
