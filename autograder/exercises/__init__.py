"""The exercises of the course, found in their folders: ``chNN_topic/NAME``.

An exercise is imported when it is first needed, because each class of modules in a process makes
each trace of `torch.fx` slower, and the cases have hundreds of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from autograder.core import own_exercises
from autograder.core.exercise import Exercise
from autograder.core.exercise_folder import load_exercise

FOLDER = Path(__file__).parent


@cache
def _homes() -> dict[str, str]:
    """The folders of the exercises' chapters, by the exercises' names."""
    found = sorted(FOLDER.glob("ch*/*/cases.py"))
    return {path.parent.name: path.parent.parent.name for path in found}


@cache
def _of_course(name: str) -> Exercise:
    home = _homes()[name]
    return load_exercise(f"{__name__}.{home}.{name}", chapter=home.removeprefix("ch"))


class _Exercises(Mapping[str, Exercise]):
    """The exercises by name, in the order of the course; an instructor's own only by name."""

    def __getitem__(self, name: str) -> Exercise:
        return _of_course(name) if name in _homes() else own_exercises.exercise(name)

    def __iter__(self) -> Iterator[str]:
        """The names in the order of the course; all exercises are imported for that."""
        for home in sorted(set(_homes().values())):
            yield from (exercise.name for exercise in of_chapter(home.removeprefix("ch")))

    def __contains__(self, name: object) -> bool:
        return name in _homes() or name in own_exercises.names()

    def __len__(self) -> int:
        return len(_homes())


EXERCISES: Mapping[str, Exercise] = _Exercises()


def of_chapter(chapter: str) -> tuple[Exercise, ...]:
    """The exercises of the chapter with that stem, such as ``03_manipulation``, in order.

    An instructor's own are among them, if their ``EXERCISE`` names the chapter.
    """
    names = [name for name, home in _homes().items() if home == f"ch{chapter}"]
    own = map(own_exercises.exercise, sorted(own_exercises.names() - _homes().keys()))
    found = [*map(EXERCISES.__getitem__, names), *(one for one in own if one.chapter == chapter)]
    return tuple(sorted(found, key=lambda one: one.number))
