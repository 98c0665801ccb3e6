"""Name and chapters of the class that this installation was packed for, if it was.

`fxcourse classroom pack` writes them into the wheel.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("class.json")
"""The file in a class's wheel."""


@dataclass(frozen=True)
class ClassWheel:
    """A class, or the whole course.

    Attributes:
        id: the class's name in nbgrader; ``fxcourse`` if this is not the wheel of a class.
        chapters: the stems of its notebooks; none if this is not the wheel of a class.
    """

    id: str = "fxcourse"
    chapters: tuple[str, ...] = ()


@cache
def this_class() -> ClassWheel:
    """The class of this installation."""
    try:
        data = json.loads(FILE.read_text(encoding="utf-8"))
    except OSError:
        return ClassWheel()
    return ClassWheel(data["id"] or ClassWheel.id, tuple(data["chapters"]))


def text_of(course_id: str, chapters: Iterable[str]) -> str:
    """The text of the file for a class."""
    return json.dumps({"id": course_id, "chapters": sorted(chapters)}, indent=1) + "\n"
