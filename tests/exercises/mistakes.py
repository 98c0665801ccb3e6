"""The registry of beginners' mistakes, by which the cards are rated.

The wrong answers in ``answers.py`` show that a check finds a mistake. These show that its card
helps: each is an answer of a learner who misread the task, forgot a line, or confused two things.
They are in ``chNN_topic/beginner_mistakes.py``, and ``python -m tests.checks.mistake_cards`` prints
their cards.

A reader looked at each card as the learner who wrote the answer, and rated it. Before the cards
were rewritten, 70 of 177 were rated `UNSTICKS`, 90 `SHOWS_PLACE`, and 17 misled.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.exercises import FOLDER

UNSTICKS = "unsticks"
"""Rating of a card that leads from where the learner is to the next right step."""

SHOWS_PLACE = "shows the place"
"""Rating of a card that is true and near, but leaves the cause open."""

RATINGS = (UNSTICKS, SHOWS_PLACE)
"""The ratings that a card may have: a card that is false or points elsewhere is rewritten."""


@dataclass(frozen=True)
class Mistake:
    """An answer of a learner.

    Attributes:
        exercise: the name of the exercise that it answers.
        title: the mistake, in a few words; unique within the exercise.
        write: the answer, under the exercise's name.
        rating: of its card, by a reader.
        but: why the card does not unstick; empty if it does.
        says: texts that must be on the card.
    """

    exercise: str
    title: str
    write: Any
    rating: str
    but: str = ""
    says: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.exercise}: {self.title}"


_MISTAKES: list[Mistake] = []


def mistake(
    exercise: str, title: str, rating: str, *, but: str = "", says: Sequence[str] = ()
) -> Callable[[Any], Any]:
    """Register an answer. It gets the exercise's name, as it would have in a notebook."""

    def mark(write: Any) -> Any:
        write.__name__ = write.__qualname__ = exercise
        _MISTAKES.append(Mistake(exercise, title, write, rating, but, tuple(says)))
        return write

    return mark


def all_mistakes() -> list[Mistake]:
    """All mistakes, in the order of the chapters."""
    for path in sorted(FOLDER.glob("ch*/beginner_mistakes.py")):
        importlib.import_module(f"tests.exercises.{path.parent.name}.{path.stem}")
    return list(_MISTAKES)
