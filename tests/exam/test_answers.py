"""The exam of the checks: right answers pass, wrong ones fail with the finding meant for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from autograder.exercises import EXERCISES
from tests.exam import caught_on
from tests.exam.answers import Answer, all_answers, examine, finding_meant_for

ANSWERS = [a for a in all_answers() if a.exercise in EXERCISES]


def together(wanted: Callable[[Answer], bool]) -> list[Any]:
    """Answers as parameters; one process takes all of an exercise, and examines each once."""
    return [
        pytest.param(answer, id=str(answer), marks=pytest.mark.xdist_group(answer.exercise))
        for answer in ANSWERS
        if wanted(answer)
    ]


@pytest.mark.parametrize("answer", together(lambda a: a.finding is None))
def test_right_answer_passes(answer: Answer, total: Callable[[str], None]) -> None:
    _, verdict = examine(answer)
    complaints = [(f.case, f.code, f.message) for f in verdict.findings]
    assert verdict.passed, complaints
    assert verdict.score == 1.0
    total("right answers that pass")


@pytest.mark.xdist_group("grouped")
def test_tests_can_be_grouped(request: pytest.FixtureRequest) -> None:
    """Otherwise every process examines every answer."""
    if request.config.getoption("loadgroup", default=False):
        assert request.node.nodeid.endswith("@grouped")


@pytest.mark.parametrize("answer", together(lambda a: a.finding is not None))
def test_wrong_answer_gets_its_finding(answer: Answer, total: Callable[[str], None]) -> None:
    assert finding_meant_for(answer), [f.code for f in examine(answer)[1].findings] or "it passes"
    total("wrong answers that fail with the finding meant for them")


@pytest.mark.parametrize("name", EXERCISES)
def test_exam_is_large_enough(name: str) -> None:
    count = Counter(a.finding is None for a in ANSWERS if a.exercise == name)
    assert count[True] >= 4, f"{name} needs more right answers"
    assert count[False] >= 8, f"{name} needs more wrong answers"
    styles = [a.style for a in ANSWERS if a.exercise == name]
    assert len(styles) == len(set(styles)), f"{name} has two answers of the same style"


def test_every_answer_belongs_to_an_exercise() -> None:
    assert {a.exercise for a in all_answers()} <= set(EXERCISES)


def test_cases_that_catch_belong_to_answers() -> None:
    """Otherwise what `caught_on` holds of them says nothing any more."""
    for name, known in caught_on.stored().items():
        styles = {a.style for a in ANSWERS if a.exercise == name and a.finding is not None}
        assert known.keys() <= styles, f"run `python -m tests.exam.caught_on {name}`"
        assert set(known.values()) <= {case.name for case in EXERCISES[name].cases}, name
