"""What was not run did not hold: more fields of each outcome than `test_outcome_schema` tries."""

from __future__ import annotations

import pytest

from autograder.exercises import EXERCISES
from tests.checks.thorough.test_outcome_schema import survivors_on_any_case


@pytest.mark.parametrize("name", EXERCISES)
def test_one_field_less_is_nothing_on_any_case(name: str) -> None:
    assert survivors_on_any_case(name, 60) == []
