"""The answer keys of all exercises: visible cases for each part, and rules that many keys share."""

from __future__ import annotations

import pytest

from autograder.core.exercise import RANDOM
from autograder.exercises import EXERCISES
from autograder.judge.answer_key import key_of
from autograder.judge.rule import Rule
from autograder.rules import passes, values, wellformed

# A rule shared by many keys needs only one exercise that proves it necessary.
SHARED = {
    rule.name
    for room in (passes, values, wellformed)
    for rule in vars(room).values()
    if isinstance(rule, Rule)
}


NEEDED_IN = {
    "caller untouched": "node_names",
    "right value": "node_names",
    "nothing forbidden": "inputs_of",
    "known targets": "build_by_hand",
    "copies": "specialize",
    "signature kept": "add_to_mul",
}
"""For each shared rule, an exercise in which a wrong answer would pass without it."""


def test_each_shared_rule_names_an_exercise_that_needs_it() -> None:
    rules = [rule for exercise in EXERCISES.values() for rule in key_of(exercise).rules]
    excused = {rule.name for rule in rules if getattr(rule, "reason", "")}
    assert SHARED & {rule.name for rule in rules} - excused == NEEDED_IN.keys()


@pytest.mark.parametrize("name", EXERCISES)
def test_each_aspect_has_cases_that_everybody_sees(name: str) -> None:
    exercise = EXERCISES[name]
    assert RANDOM.key not in {aspect.key for aspect in exercise.aspects}
    visible = {case.aspect for case in exercise.visible_cases()}
    assert visible == {aspect.key for aspect in exercise.aspects}
    names = [case.name for case in exercise.cases]
    assert len(names) == len(set(names))
