"""No update loses a learner's work: more random edits than `test_carry` tries."""

from __future__ import annotations

import pytest

from tests.unit.workspace.test_carry import nothing_is_lost


@pytest.mark.parametrize("is_known", [True, False])
def test_random_edits_lose_nothing(is_known: bool) -> None:
    nothing_is_lost(range(50, 1000), is_known)
