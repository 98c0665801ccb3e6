"""Right answers pass every model of a class's pool; a failure there would be a wrong grade."""

from __future__ import annotations

import io

import pytest

from autograder.core.exercise import Case, Exercise
from autograder.core.outcome import Outcome
from autograder.exercises import EXERCISES
from autograder.grading import fails
from autograder.runner import run
from tests.exercises import Answer, answers_to

WITH = {name: each for name, each in EXERCISES.items() if each.random}
POOL = 9001


def as_sent(outcome: Outcome) -> Outcome:
    """The outcome as a box sends it."""
    stream = io.BytesIO()
    outcome.write(stream)
    stream.seek(0)
    return Outcome.read(stream)


def lost(exercise: Exercise, answer: Answer, case: Case) -> str:
    """Name the answer and the model if the answer fails there; else return ``""``."""
    outcome = as_sent(run(exercise, answer.write, case))
    return f"{answer.style}: {case.name}" if fails(exercise, case, outcome) else ""


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch warns about odd models
@pytest.mark.parametrize("name", WITH)
def test_right_answers_lose_no_model_of_a_pool(name: str) -> None:
    exercise = WITH[name]
    right = [answer for answer in answers_to(name) if answer.finding is None]
    found = [
        lost(exercise, answer, case) for case in exercise.random.pool(POOL) for answer in right
    ]
    assert list(filter(None, found)) == []
