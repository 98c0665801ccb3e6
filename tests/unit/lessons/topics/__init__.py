"""The topics that the course promises, and the sections that teach them.

``topics.toml`` names a section by its heading alone, so sections may move to another notebook.
``python -m tests.unit.lessons.topics`` prints the table.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import jupytext

from autograder.builder.outputs.references import SOLUTIONS

HERE = Path(__file__).parent
_HEADING = re.compile(r"^#{2,3} +(?:\d+b?c?\.\d+ +)?(.+?)(?: \(\d+ minutes?\))?$", re.M)


@dataclass(frozen=True)
class Topic:
    """A topic of the course.

    Attributes:
        name: a short name.
        section: the heading of the section that teaches it, without number and minutes.
        shows: texts that the section's code must contain.
        says: texts that the section's prose must contain.
        planned: the chapter that will teach it, if that is not written yet.
    """

    name: str
    section: str = ""
    shows: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    planned: str = ""


@dataclass
class Section:
    """The text under one heading.

    Attributes:
        chapter: the notebook, such as ``"01_tracing"``.
        code: its code cells.
        prose: its prose cells.
    """

    chapter: str
    code: str = ""
    prose: str = ""

    def lacks(self, topic: Topic) -> list[str]:
        """Texts that the topic requires and this section does not contain."""
        return [
            *(text for text in topic.shows if text not in self.code),
            *(text for text in topic.says if text not in self.prose),
        ]


def topics() -> list[Topic]:
    """All topics."""
    rows = tomllib.loads((HERE / "topics.toml").read_text(encoding="utf-8"))["topic"]
    return [
        Topic(**{key: tuple(v) if isinstance(v, list) else v for key, v in row.items()})
        for row in rows
    ]


@lru_cache(maxsize=1)
def sections() -> dict[str, list[Section]]:
    """The sections of all notebooks by heading; a heading can occur more than once."""
    found: dict[str, list[Section]] = {}
    for path in sorted(SOLUTIONS.glob("*.py")):
        here = Section(path.stem)
        for cell in jupytext.read(path).cells:
            if cell.cell_type == "code":
                here.code += f"\n{cell.source}"
                continue
            headings = _HEADING.findall(cell.source)
            if headings:
                here = Section(path.stem)
                found.setdefault(headings[-1], []).append(here)
            here.prose += f"\n{cell.source}"
    return found


def place_of(topic: Topic) -> Section | None:
    """The one section that teaches a topic."""
    fitting = [each for each in sections().get(topic.section, []) if not each.lacks(topic)]
    return fitting[0] if len(fitting) == 1 else None


def table() -> str:
    """Topic and place, as a table in Markdown."""
    rows = []
    for topic in topics():
        place = place_of(topic)
        where = f"{place.chapter}: {topic.section}" if place else f"planned: {topic.planned}"
        rows.append(f"| {topic.name} | {where} |")
    return "\n".join(["| topic | section |", "|---|---|", *rows])
