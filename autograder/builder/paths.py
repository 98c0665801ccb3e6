"""Paths of the course's files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = ROOT / "solutions"
EXERCISES = ROOT / "autograder" / "exercises"
COURSE = ROOT / "course"
BUILD = ROOT / "build"
LESSONS = ROOT / "autograder" / "lessons"


def chapters(folder: Path = SOLUTIONS) -> list[Path]:
    """The source files of all chapters, in course order.

    Args:
        folder: contains the ``NN_topic.py`` files, and the ``NNb_topic.py`` files of deep dives,
            each of which comes right after its chapter.

    Raises:
        FileNotFoundError: the folder does not exist, as in an installation without the sources.
    """
    if not folder.is_dir():
        raise FileNotFoundError(
            f"There is no folder {folder}. Chapters are built in a clone of the project."
        )
    return sorted(path for path in folder.glob("*.py") if is_chapter(path.stem))


def is_chapter(name: str) -> bool:
    """Whether this is a chapter's name, such as ``09_debugging`` or ``09b_duels``."""
    return re.match(r"\d\d[b-z]?_", name) is not None


def choose(names: Sequence[str]) -> list[Path]:
    """The chapters with these names, in course order; all chapters if there are no names.

    Raises:
        ValueError: no chapter has one of the names.
    """
    known = {path.stem: path for path in chapters()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"There is no chapter '{unknown[0]}'. Chapters: {', '.join(known)}.")
    return [path for name, path in known.items() if name in names or not names]


def shown(path: Path) -> str:
    """A path for messages, relative to the project's root if it is inside the project."""
    path = Path(path)
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
