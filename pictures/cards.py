"""The pictured cards: real answers and their real checks. This module needs no browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from autograder.api import verdict_on
from autograder.cards.card import Card
from autograder.exercises import EXERCISES
from autograder.learner.debrief import has_debrief
from pictures import answers
from tests.exercises.ch03_manipulation.add_to_mul.answers import in_place


@dataclass(frozen=True)
class PicturedAnswer:
    """An answer whose card is in a picture.

    Attributes:
        exercise: the exercise.
        answer: the function.
    """

    exercise: str
    answer: Callable[..., Any]


CARDS = {
    "card": PicturedAnswer("add_to_mul", answers.add_to_mul),
    "passed": PicturedAnswer("add_to_mul", in_place),
    "first-try": PicturedAnswer("retarget", answers.retarget),
    "second-try": PicturedAnswer("retarget", answers.retarget_and_recompile),
}
"""The answers, by the name of the picture."""


@cache
def card_of(name: str) -> Card:
    """The card that a notebook shows for a picture's answer."""
    exercise = EXERCISES[CARDS[name].exercise]
    verdict = verdict_on(exercise, CARDS[name].answer, hidden=False)
    return Card(verdict, exercise, debrief=has_debrief(exercise))


def card_texts() -> dict[str, str]:
    """The text form of each pictured card."""
    return {name: str(card_of(name)) for name in CARDS}
