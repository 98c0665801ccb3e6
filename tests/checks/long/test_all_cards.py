"""Cards of the wrong answers to all exercises; no advice is given too often."""

from __future__ import annotations

from collections import Counter

import pytest

from autograder.exercises import EXERCISES
from tests.checks.examination import finding_meant_for
from tests.checks.thorough.test_cards import EVERY, assert_cards_are_short
from tests.exercises import answers_to

MAX_SHARE = 0.05
"""Maximum share of all wrong answers that get the same advice."""


@pytest.mark.parametrize("name", EXERCISES)
def test_a_card_is_short_and_has_advice(name: str) -> None:
    assert_cards_are_short(name, EVERY)


def test_no_advice_is_given_too_often() -> None:
    looks: Counter[str] = Counter()
    for name in EXERCISES:
        wrong = [answer for answer in answers_to(name) if answer.finding is not None]
        found = (finding_meant_for(answer) for answer in wrong)
        looks.update(finding.advice for finding in found if finding is not None)
    often = {look: count for look, count in looks.items() if count > MAX_SHARE * looks.total()}
    assert not often
