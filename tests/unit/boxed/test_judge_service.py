"""Data that a judge server publishes; it learns this from few models."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from autograder.boxed.judge_service import random_models_like_all
from autograder.boxed.remote_graphs import modules_of
from autograder.core.exercise import Case
from autograder.exercises import EXERCISES


@pytest.mark.parametrize("name", [each.name for each in EXERCISES.values() if each.random])
def test_one_random_model_says_what_all_need_and_forbid(name: str) -> None:
    random = EXERCISES[name].random
    assert random is not None
    (one,) = random_models_like_all(EXERCISES[name])
    drawn = random.cases(1)
    assert modules_of(drawn) <= modules_of((one, *EXERCISES[name].cases))
    assert forbidden(drawn) == forbidden((one,))


def forbidden(cases: Iterable[Case]) -> set[tuple[object, ...]]:
    """Return the operations that answers must not use on these cases."""
    return {(id(row[0]), *row[1:]) for case in cases for row in case.make(0).forbidden}
