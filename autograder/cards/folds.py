"""Folds of a card: hints, a solution, and other right answers after a pass."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.cards.debrief import debrief_html
from autograder.cards.hints import titled
from autograder.cards.markdown import markdown_html
from autograder.core.exercise import Exercise
from autograder.drawing.html import QUIET
from autograder.lessons import Debrief

SHOW_SOLUTION = "Show me a solution"
COMPARE = "Compare with other right answers"
NOTED = (
    'Your progress calls this exercise "solution seen" now, and "passed, solution seen" once you '
    "pass it. The points stay the same."
)


@dataclass(frozen=True)
class Fold:
    """A fold, closed at first.

    Attributes:
        summary: its heading, as text.
        html: its content.
    """

    summary: str
    html: str


def hint_folds(exercise: Exercise, count: int) -> list[Fold]:
    """The first hints of an exercise, at most `count` of them."""
    every = exercise.hints
    named = [titled(hint, at, len(every)) for at, hint in enumerate(every[:count], 1)]
    return [Fold(head, markdown_html(body)) for head, body in named]


def debrief_fold(debrief: Debrief) -> Fold:
    """The fold with other right answers, for a card after a pass."""
    return Fold(COMPARE, debrief_html(debrief))


def solution_fold(debrief: Debrief) -> Fold:
    """The fold with a solution, for a learner who is stuck."""
    note = f'<div style="color:{QUIET};font-size:13px;margin:3px 0 0 0">{NOTED}</div>'
    return Fold(SHOW_SOLUTION, note + debrief_html(debrief))
