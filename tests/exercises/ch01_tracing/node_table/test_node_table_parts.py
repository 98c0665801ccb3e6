"""Tests of the parts of `node_table` that a wrong count costs."""

from __future__ import annotations

from tests.checks.examination import examine
from tests.checks.test_answers import wrong_answers


def test_a_wrong_count_costs_the_part_of_that_count_alone() -> None:
    held = {
        answer.style: [share.held for share in examine(answer)[1].shares]
        for answer in wrong_answers("node_table")
    }
    assert held["every occurrence counts"] == [True, False, True]
    assert held["uses instead of users"] == [True, True, False]
    assert held["inputs and users exchanged"] == [True, False, False]
