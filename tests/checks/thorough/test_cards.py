"""Cards of wrong answers: short, and with advice."""

from __future__ import annotations

import re

import pytest

from autograder.cards.card_text import MOST_LINES, WIDTH, card_text
from autograder.exercises import EXERCISES
from tests.checks.examination import examine
from tests.exercises import answers_to

EVERY = 8
"""One in this many wrong answers of each exercise is tried on all cases for its card."""

MACHINERY = re.compile(r"\bclass (?:Bad|Depends|Notes|Ran|Draws\w*|T|Plan|Sleeper|TooWarm)\b")
"""Helper classes of the course, whose objects an answer may receive."""


@pytest.mark.parametrize("name", list(EXERCISES)[::9])
def test_a_card_is_short_and_has_advice(name: str) -> None:
    assert_cards_are_short(name, EVERY)


def assert_cards_are_short(name: str, every: int) -> None:
    """Check that some cards are short, give advice, and show no helper class of the course."""
    exercise = EXERCISES[name]
    wrong = [answer for answer in answers_to(name) if answer.finding is not None]
    for answer in wrong[::every]:
        verdict = examine(answer)[1]
        text = card_text(verdict, exercise)
        lines = text.splitlines()
        assert len(lines) <= MOST_LINES and max(map(len, lines)) <= WIDTH, f"{answer}\n{text}"
        assert not MACHINERY.search(text), f"{answer}\n{text}"
        assert verdict.status == "not attempted" or verdict.findings[0].advice, answer
