"""Answers with the same mistake are one group, in whatever style they are written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.checks.grouped_mistakes import MISTAKES, measure


@pytest.mark.parametrize("name", MISTAKES)
def test_groups_are_mistakes(name: str, printed: Callable[[str, str], None]) -> None:
    groups, by_first = measure(name)
    printed(f"groups of {name}", f"{groups}\n{by_first}")
    assert groups.purity >= 0.95
    assert groups.purity >= by_first.purity
