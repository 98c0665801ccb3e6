"""Every property in a rubric is needed: without it some wrong answer would pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from autograder.core.exercise import RANDOM, Exercise
from autograder.core.verdict import Finding
from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.judge.answer_key import AnswerKey, Property, key_of
from autograder.judge.rule import Rule
from autograder.rules import passes, values, wellformed
from autograder.runner import run
from tests.exam.answers import Answer, all_answers, examine, finding_meant_for, is_held

# Rules that many rubrics share are shown to be needed once, in any of them.
SHARED = {
    rule.name
    for room in (passes, values, wellformed)
    for rule in vars(room).values()
    if isinstance(rule, Rule)
}


def is_needed(exercise: Exercise, rule: Property) -> bool:
    """Whether some wrong answer passes once the rule is gone."""
    key = key_of(exercise)
    without = replace(key, rules=tuple(one for one in key.rules if one.name != rule.name))
    return any(
        passes_now(exercise, without, answer, finding)
        for answer, finding in caught_by(exercise, rule)
    )


def caught_by(exercise: Exercise, rule: Property) -> Iterator[tuple[Answer, Finding]]:
    """The wrong answers whose finding comes from a rule, with that finding."""
    for answer in all_answers():
        if answer.exercise == exercise.name and answer.finding is not None:
            meant = finding_meant_for(answer)
            if meant is not None and meant.property == rule.name:
                yield answer, meant


def passes_now(exercise: Exercise, key: AnswerKey, answer: Answer, finding: Finding) -> bool:
    """Whether an answer holds on all cases, by another key; first, on the case of its finding."""
    for case in sorted(exercise.cases, key=lambda case: case.name != finding.case):
        outcome = run(exercise, answer.write, case)
        if is_held(exercise.name, outcome):
            continue  # by the whole key, so by each part of it, too
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


NEEDED_IN = {
    "caller untouched": "node_names",
    "right value": "node_names",
    "nothing forbidden": "inputs_of",
    "known targets": "build_by_hand",
    "copies": "specialize",
    "signature kept": "add_to_mul",
}
"""Of each shared rule an exercise in which a wrong answer passes without it."""


@pytest.mark.parametrize(("rule", "name"), NEEDED_IN.items())
def test_each_shared_property_is_needed_somewhere(rule: str, name: str) -> None:
    exercise = EXERCISES[name]
    (found,) = (own for own in key_of(exercise).rules if own.name == rule)
    assert is_needed(exercise, found)


def test_of_each_shared_property_it_is_said_where_it_is_needed() -> None:
    rules = [rule for exercise in EXERCISES.values() for rule in key_of(exercise).rules]
    excused = {rule.name for rule in rules if getattr(rule, "reason", "")}
    assert SHARED & {rule.name for rule in rules} - excused == NEEDED_IN.keys()


@pytest.mark.parametrize("name", EXERCISES)
def test_each_aspect_has_cases_that_everybody_sees(name: str) -> None:
    exercise = EXERCISES[name]
    assert RANDOM.key not in {aspect.key for aspect in exercise.aspects} or not exercise.random
    visible = {case.aspect for case in exercise.visible_cases()}
    assert visible == {aspect.key for aspect in exercise.aspects}
    names = [case.name for case in exercise.cases]
    assert len(names) == len(set(names))


@pytest.mark.xdist_group("sign_flip")
def test_a_trace_that_alone_is_wrong_leads_to_its_code() -> None:
    looks = {
        answer.style.partition(",")[0]: examine(answer)[1].findings[0].look
        for answer in all_answers()
        if answer.exercise == "sign_flip" and answer.finding == "wrong-result"
    }
    assert "fx.symbolic_trace(sign_flip).code" in looks["a power of minus one"]
    assert "The sum of all entries decides" in looks["the sign of the sum"]
