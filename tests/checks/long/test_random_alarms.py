"""No right answer fails on a random model: many more models than `make test-all` draws.

A failure on one model in a thousand affects one student in sixty.
"""

from __future__ import annotations

import gc
from itertools import count, islice

import pytest

from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.runner import run
from tests.exercises import answers_to

MODELS = 540

FIRST_SEED = 300_000
"""The first seed; models of the seeds before it were inspected by hand."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xdist_group(name))
        for name, exercise in EXERCISES.items()
        if exercise.random
    ],
)
def test_right_answers_hold_on_many_random_models(name: str, total) -> None:
    """The answers take turns, one model each."""
    exercise = EXERCISES[name]
    assert exercise.random is not None
    right = [answer for answer in answers_to(name) if answer.finding is None]
    alarms: list[str] = []
    tried = 0
    for seed in count(FIRST_SEED):
        cases = list(islice(exercise.random.cases(seed=seed), MODELS - tried))
        for case in cases:
            answer = right[tried % len(right)]
            verdict = judge(exercise, [run(exercise, answer.write, case)], (case,))
            if not verdict.passed:
                said = verdict.findings[0].message if verdict.findings else verdict.status
                alarms.append(f"{answer.style}, seed {seed}, {case.name}: {said}")
            tried += 1
        gc.collect()
        if tried >= MODELS:
            break
    assert alarms == []
    total("random models, of many more, on which a right answer holds", tried)
