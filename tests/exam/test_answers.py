"""The exam of the checks: right answers pass, wrong ones fail with the finding meant for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from autograder.exercises import EXERCISES
from tests.exam import caught_on
from tests.exam.answers import Answer, all_answers, caught_by, examine, finding_meant_for

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


@pytest.mark.parametrize("name", ["retarget"])
def test_only_what_holds_is_taken_to_hold_again(name: str) -> None:
    for answer in (a for a in ANSWERS if a.exercise == name):
        first = examine(answer)[1]
        again = examine(replace(answer, style=f"{answer.style}, again"))[1]
        assert first.passed == again.passed == (answer.finding is None)
        assert first.shares == again.shares and first.findings == again.findings


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


def test_which_cases_catch_is_known_of_most(printed: Callable[[str, str], None]) -> None:
    """What `caught_on` does not know, or no longer, only takes longer; so it is no mistake."""
    old = []
    for name, known in caught_on.stored().items():
        styles = {a.style for a in ANSWERS if a.exercise == name and a.finding is not None}
        cases = {case.name for case in EXERCISES[name].cases} if name in EXERCISES else set()
        if not (known.keys() <= styles and set(known.values()) <= cases):
            old.append(name)
    new = EXERCISES.keys() - caught_on.stored().keys()
    if names := sorted({*old, *new}):
        text = f"To make the exam faster, run: python -m tests.exam.caught_on {' '.join(names)}"
        printed("cases that catch wrong answers, and are not known", text)


@pytest.mark.parametrize("name", ["retarget"])
@pytest.mark.parametrize("known", ["", "no such case", "the last one"])
def test_what_is_known_of_a_case_decides_nothing(
    name: str, known: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = EXERCISES[name].cases
    case = cases[-1].name if known == "the last one" else known
    monkeypatch.setattr(caught_on, "known", lambda answer: case)
    answer = next(a for a in ANSWERS if a.exercise == name and a.finding is not None)
    found = caught_by(answer)[1]
    assert found is not None and found.code == answer.finding
    for other in (replace(answer, finding="no such finding"), right_one(name, answer.finding)):
        assert caught_by(other) == ("", None)


def right_one(name: str, finding: str | None) -> Answer:
    """A right answer, as if that finding were meant for it."""
    answer = next(a for a in ANSWERS if a.exercise == name and a.finding is None)
    return replace(answer, finding=finding)
