"""The failed cases of an answer, as recorded for a class."""

from __future__ import annotations

from torch import fx, nn

from autograder.api import verdict_on
from autograder.exercises import EXERCISES
from tests.exercises import answers_to

EXERCISE = EXERCISES["retarget"]


def _changes_nothing(model: nn.Module, old: object, new: object) -> fx.GraphModule:
    return fx.symbolic_trace(model)


def test_a_verdict_names_each_failing_case_and_what_is_wrong_there() -> None:
    verdict = verdict_on(EXERCISE, _changes_nothing, hidden=True)
    fails = dict(verdict.fails)
    assert len(fails) == len(verdict.fails)
    hidden = {case.name for case in EXERCISE.cases if case.hidden}
    assert set(fails) <= {case.name for case in EXERCISE.cases} and hidden & set(fails)
    shown = verdict.findings[0]
    assert fails[shown.case] == shown.code


def test_a_right_answer_fails_nothing() -> None:
    right = answers_to("retarget")[0]
    assert right.finding is None
    assert verdict_on(EXERCISE, right.write, hidden=True).fails == ()
