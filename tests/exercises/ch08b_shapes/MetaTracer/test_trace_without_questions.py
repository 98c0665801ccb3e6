"""Fields of an outcome that count if a trace of `MetaTracer` asks nothing."""

from __future__ import annotations

import re

import pytest

from autograder.exercises import EXERCISES
from autograder.judge import findings_of
from tests.checks.thorough.test_outcome_schema import quiet, right_outcome
from tests.support.mutations import some


@pytest.mark.parametrize("name", ["sizes are handed on", "layers and tensors, nothing asked"])
def test_of_a_trace_that_was_asked_nothing_all_but_names_counts(name: str) -> None:
    exercise = EXERCISES["MetaTracer"]
    case = next(case for case in exercise.cases if case.name == name)
    outcome = right_outcome(exercise.name, name)
    tried = [m for m in some(outcome, 200, 1) if re.match(r"runs\[\].*\.graph", m.place)]
    assert len(tried) > 20
    with quiet():
        kept = [m for m in tried if not findings_of(exercise, case, m.of(outcome))]
    assert {m.place for m in kept} <= {"runs[].forward.value.graph[].name"}
