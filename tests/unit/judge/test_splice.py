"""The judge inserts graphs recorded from rules into a model's trace, as `decompose` requires."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from torch import fx

from autograder.core.exercise import Case
from autograder.core.outcome import Outcome
from autograder.exercises import EXERCISES
from autograder.exercises.ch05_proxy.decompose.key import decomposed_graph
from autograder.judge import Evidence, findings_of
from autograder.judge.answer_key import key_of
from autograder.runner import run
from tests.exercises import Answer, answers_to

EXERCISE = EXERCISES["decomposition_rules"]
CASES = {case.name: case for case in EXERCISE.cases}
ALL_THREE = CASES["all three"]
RIGHT = [answer for answer in answers_to(EXERCISE.name) if answer.finding is None]


@pytest.mark.parametrize("answer", RIGHT, ids=lambda answer: answer.style)
@pytest.mark.parametrize("case", [ALL_THREE, CASES["softmax, read again"]], ids=lambda c: c.name)
def test_the_result_is_what_retracing_gives(answer: Answer, case: Case) -> None:
    evidence = Evidence(EXERCISE, case, run(EXERCISE, answer.write, case), key_of(EXERCISE))
    graph = decomposed_graph(evidence.traced, answer.write())
    assert evidence.graph["code"] == fx.GraphModule(evidence.traced, graph).code
    assert evidence.derived.untrue_links == []


@pytest.fixture
def outcome() -> Outcome:
    """A right answer's outcome, for a test to change."""
    return copy.deepcopy(run(EXERCISE, RIGHT[0].write, ALL_THREE))


def codes(outcome: Outcome) -> list[str]:
    """Return the codes of the findings in an outcome."""
    return [finding.code for finding in findings_of(EXERCISE, ALL_THREE, outcome)]


def test_a_right_answer_has_one_graph_for_each_call(outcome: Outcome) -> None:
    assert len(outcome.value["rules"]) == 5
    assert outcome.runs == []
    assert codes(outcome) == []


def test_no_graph_may_be_missing_and_none_be_there_twice(outcome: Outcome) -> None:
    recorded = outcome.value["rules"]
    for rules in ([], recorded[:-1], [*recorded, recorded[-1]]):
        outcome.value["rules"] = rules
        assert codes(outcome) == ["unrecorded"]


@pytest.mark.parametrize("place", [0, 1, 7, -1, True, None, "x", []])
def test_a_node_reads_only_what_comes_before_it(outcome: Outcome, place: Any) -> None:
    outcome.value["rules"][0][1]["args"]["tuple"][0] = {"node": place}
    if place == 0:
        assert codes(outcome) == []
    else:
        assert codes(outcome)[0] in ("unreadable", "unrecorded")


@pytest.mark.parametrize(
    "changed",
    [
        {"op": "output"},
        {"op": "placeholder", "target": "y"},
        {"op": "get_attr", "target": "linear.weight"},
        {"op": "call_module", "target": "linear"},
        {"op": "call_function", "target": {"function": "builtins.eval"}},
        {"op": "call_function", "target": {"opaque": "f"}},
        {"op": "call_method", "target": "__class__"},
        {"args": {"tuple": [{"foreign": "x"}]}},
        {"args": {"tuple": [{"tensor": 0}]}},
        {"args": {"list": [{"node": 0}]}},
        {"args": {"tuple": []}},
    ],
    ids=str,
)
def test_what_is_no_operation_on_what_was_given_holds_nothing(
    outcome: Outcome, changed: dict[str, Any]
) -> None:
    outcome.value["rules"][0][1] |= changed
    assert codes(outcome)
