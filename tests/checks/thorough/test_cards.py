"""Cards of the exam's wrong answers: short, with advice, and not all with the same one."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from autograder.cards.card_text import MOST_LINES, WIDTH, card_text
from autograder.exercises import EXERCISES
from tests.exam.answers import answers_to, examine, finding_meant_for

EVERY = 8
"""Of each exercise's wrong answers, every eighth is tried on all cases for its card."""

MOST_OFTEN = 0.05
"""The share of all wrong answers that one advice may be given to."""

MACHINERY = re.compile(r"\bclass (?:Bad|Depends|Notes|Ran|Draws\w*|T|Plan|Sleeper|TooWarm)\b")
"""Classes of the course that an answer is given objects of."""


@pytest.mark.parametrize("name", EXERCISES)
def test_a_card_is_short_and_has_advice(name: str) -> None:
    exercise = EXERCISES[name]
    wrong = [answer for answer in answers_to(name) if answer.finding is not None]
    for answer in wrong[::EVERY]:
        verdict = examine(answer)[1]
        text = card_text(verdict, exercise)
        lines = text.splitlines()
        assert len(lines) <= MOST_LINES and max(map(len, lines)) <= WIDTH, f"{answer}\n{text}"
        assert not MACHINERY.search(text), f"{answer}\n{text}"
        assert verdict.status == "not attempted" or verdict.findings[0].look, answer


def test_no_advice_is_given_too_often() -> None:
    looks: Counter[str] = Counter()
    for name in EXERCISES:
        wrong = [answer for answer in answers_to(name) if answer.finding is not None]
        found = (finding_meant_for(answer) for answer in wrong)
        looks.update(finding.look for finding in found if finding is not None)
    often = {look: count for look, count in looks.items() if count > MOST_OFTEN * looks.total()}
    assert not often
