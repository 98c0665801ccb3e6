"""A case's code on a card can be pasted and run, for every exercise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograder.exercises import EXERCISES
from tests.unit.cards.test_repro_code import SAMPLE, pasted


@pytest.mark.parametrize("name", [name for name in EXERCISES if name not in SAMPLE])
def test_what_is_shown_can_be_pasted(name: str, total: Callable[..., None]) -> None:
    total("sources that run in a fresh cell", pasted(name))
