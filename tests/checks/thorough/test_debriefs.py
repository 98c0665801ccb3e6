"""The alternative answer in a debrief is right."""

from __future__ import annotations

import pytest

from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.lessons import debriefs
from autograder.runner import run_cases
from tests.unit.lessons.test_debrief import EVERY, answer


@pytest.mark.parametrize("name", EVERY)
def test_the_other_answer_passes_as_it_is_shown(name: str) -> None:
    """Only the cases are tried here; other tests try random models."""
    exercise = EXERCISES[name]
    shown = answer(name, debriefs()[name].other)
    verdict = judge(exercise, run_cases(exercise, shown, exercise.cases))
    assert verdict.passed, verdict.findings
