"""Every right answer passes; `test_answers` tries the course's own solutions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from autograder.exercises import EXERCISES
from tests.checks.examination import examine
from tests.checks.test_answers import complaints, right_answers
from tests.exercises import answers_to


@pytest.mark.parametrize("name", EXERCISES)
def test_right_answers_pass(name: str, total: Callable[..., None]) -> None:
    answers = right_answers(name)
    said = [line for answer in answers for line in complaints(answer)]
    assert not said, "\n".join(said)
    total("right answers that pass", len(answers))


@pytest.mark.parametrize("name", ["retarget"])
def test_only_what_holds_is_taken_to_hold_again(name: str) -> None:
    for answer in answers_to(name):
        first = examine(answer)[1]
        again = examine(replace(answer, style=f"{answer.style}, again"))[1]
        assert first.passed == again.passed == (answer.finding is None)
        assert first.shares == again.shares and first.findings == again.findings
