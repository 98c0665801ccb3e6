"""Answers with beginners' mistakes, by which the cards are rated.

`tests.exam.answers` asks whether a mistake is found. This panel asks whether its card helps: each
answer is what a learner wrote who has misread the task, forgot a line, or took one thing for
another.
`python -m tests.exam.panel.show` prints the cards; `ratings.md` holds what a reader made of them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mistake:
    """One answer of a learner.

    Attributes:
        exercise: the name of the exercise that it answers.
        title: the mistake, in a few words; unique within the exercise.
        write: what the learner wrote, under the exercise's name.
    """

    exercise: str
    title: str
    write: Any

    def __str__(self) -> str:
        return f"{self.exercise}: {self.title}"


_MISTAKES: list[Mistake] = []


def mistake(exercise: str, title: str) -> Callable[[Any], Any]:
    """Register an answer. It gets the exercise's name, as it would have in a notebook."""

    def mark(write: Any) -> Any:
        write.__name__ = write.__qualname__ = exercise
        _MISTAKES.append(Mistake(exercise, title, write))
        return write

    return mark


def all_mistakes() -> list[Mistake]:
    """The panel, in the order of the chapters."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        if module.name.startswith("chapter_"):
            importlib.import_module(f"{__name__}.{module.name}")
    return list(_MISTAKES)
