"""An incomplete outcome passes no case: all exercises, and more fields of each outcome."""

from __future__ import annotations

import pytest

from autograder.exercises import EXERCISES
from tests.checks.thorough.test_outcome_schema import (
    assert_a_value_alone_is_nothing,
    survivors_on_any_case,
)


@pytest.mark.parametrize("name", EXERCISES)
def test_one_field_less_is_nothing_on_any_case(name: str) -> None:
    assert survivors_on_any_case(name, 60) == []


@pytest.mark.parametrize("name", EXERCISES)
def test_a_value_alone_is_nothing(name: str) -> None:
    assert_a_value_alone_is_nothing(name)
