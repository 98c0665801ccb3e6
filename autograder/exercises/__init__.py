"""The exercises of the course, found from their folders: ``chNN_topic/NAME/cases.py``.

An exercise is imported when it is first asked for: each trace of `torch.fx` takes time for every
class of modules there is, and the models of the cases are hundreds. What must come of an answer
lies beside the question, in ``key.py``; see `judge.answer_key`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from autograder.core import own_exercises
from autograder.core.exercise import Exercise

FOLDER = Path(__file__).parent


@cache
def _homes() -> dict[str, str]:
    """The folder of each exercise's chapter, by the exercise's name."""
    found = sorted(FOLDER.glob("ch*/*/cases.py"))
    return {path.parent.name: path.parent.parent.name for path in found}


class _Exercises(Mapping[str, Exercise]):
    """The exercises by name, in the order of the course; an instructor's own only by name."""

    def __getitem__(self, name: str) -> Exercise:
        if name not in _homes():
            return own_exercises.exercise(name)
        found: Exercise = import_module(f"{__name__}.{_homes()[name]}.{name}.cases").EXERCISE
        return found

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

    An instructor's own are among them, where their ``EXERCISE`` names the chapter.
    """
    names = [name for name, home in _homes().items() if home == f"ch{chapter}"]
    own = map(own_exercises.exercise, sorted(own_exercises.names() - _homes().keys()))
    found = [*map(EXERCISES.__getitem__, names), *(one for one in own if one.chapter == chapter)]
    return tuple(sorted(found, key=lambda one: one.number))
