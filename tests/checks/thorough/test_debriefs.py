"""The other answer that a debrief shows is right."""

from __future__ import annotations

import pytest

from autograder import grade
from autograder.lessons import debriefs
from tests.unit.lessons.test_debrief import EVERY, answer


@pytest.mark.parametrize("name", EVERY)
def test_the_other_answer_passes_as_it_is_shown(name: str) -> None:
    verdict = grade(name, answer(name, debriefs()[name].other))
    assert verdict.passed, verdict.findings
