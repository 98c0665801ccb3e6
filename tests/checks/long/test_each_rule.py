"""Every rule in an answer key is needed: without it some wrong answer would pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from autograder.core.exercise import Exercise
from autograder.core.verdict import Finding
from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.judge.answer_key import AnswerKey, key_of
from autograder.judge.rule import Rule
from autograder.runner import run
from tests.checks.examination import finding_meant_for, is_held
from tests.checks.test_answers import wrong_answers
from tests.checks.test_key import NEEDED_IN, SHARED
from tests.exercises import Answer


def is_needed(exercise: Exercise, rule: Rule) -> bool:
    """Whether some wrong answer passes without the rule."""
    key = key_of(exercise)
    without = replace(key, rules=tuple(one for one in key.rules if one.name != rule.name))
    return any(
        passes_now(exercise, without, answer, finding)
        for answer, finding in caught_by(exercise, rule)
    )


def caught_by(exercise: Exercise, rule: Rule) -> Iterator[tuple[Answer, Finding]]:
    """The wrong answers whose finding comes from a rule, with this finding."""
    for answer in wrong_answers(exercise.name):
        meant = finding_meant_for(answer)
        if meant is not None and meant.rule == rule.name:
            yield answer, meant


def passes_now(exercise: Exercise, key: AnswerKey, answer: Answer, finding: Finding) -> bool:
    """Whether an answer passes all cases with another key; its finding's case is tried first."""
    for case in sorted(exercise.cases, key=lambda case: case.name != finding.case):
        outcome = run(exercise, answer.write, case)
        if is_held(exercise.name, outcome):
            continue  # it passes with the whole key, and so with a part of it
        if not judge(exercise, [outcome], (case,), key=key).passed:
            return False
    return True


@pytest.mark.parametrize("name", EXERCISES)
def test_each_own_property_is_needed(name: str) -> None:
    exercise = EXERCISES[name]
    own = [rule for rule in key_of(exercise).rules if rule.name not in SHARED]
    useless = [
        rule.name
        for rule in own
        if not getattr(rule, "reason", "") and not is_needed(exercise, rule)
    ]
    assert not useless, f"{name}: no wrong answer needs {useless}"


@pytest.mark.parametrize(("rule", "name"), NEEDED_IN.items())
def test_each_shared_property_is_needed_somewhere(rule: str, name: str) -> None:
    exercise = EXERCISES[name]
    (found,) = (own for own in key_of(exercise).rules if own.name == rule)
    assert is_needed(exercise, found)
