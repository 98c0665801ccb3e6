"""A right answer to each exercise passes; wrong ones fail with the finding meant for them.

One test tries all wrong answers to an exercise: each takes milliseconds, and they share computed
results. The right answer is the course's own solution; `thorough/test_right_answers.py` tries the
other right ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from autograder.builder.outputs.references import solution_of, solutions_of
from autograder.exercises import EXERCISES
from tests.checks.examination import examine, find_catching_case, finding_meant_for
from tests.exercises import Answer, answers_to, folders


def right_answers(name: str) -> list[Answer]:
    """The answers to an exercise that must pass."""
    return [answer for answer in answers_to(name) if answer.finding is None]


def wrong_answers(name: str) -> list[Answer]:
    """The answers to an exercise that must fail."""
    return [answer for answer in answers_to(name) if answer.finding is not None]


def complaints(answer: Answer) -> list[str]:
    """All complaints of the check about an answer."""
    _, verdict = examine(answer)
    found = [f"{answer}: {f.case}: {f.code}: {f.message}" for f in verdict.findings]
    passed = verdict.passed and verdict.score == 1.0
    return found or ([] if passed else [f"{answer}: {verdict.status}, {verdict.score}"])


@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_passes(name: str, total: Callable[..., None]) -> None:
    exercise = EXERCISES[name]
    solution = solution_of(exercise, solutions_of(exercise.chapter))
    assert complaints(Answer(name, "the solution", solution)) == []
    total("solutions that pass")


@pytest.mark.parametrize("name", EXERCISES)
def test_wrong_answers_get_the_finding_meant_for_them(
    name: str, total: Callable[..., None]
) -> None:
    missed = [
        f"{answer} needs {answer.finding}, and gets: {complaints(answer) or 'it passes'}"
        for answer in wrong_answers(name)
        if not finding_meant_for(answer)
    ]
    assert not missed, "\n".join(missed)
    found = {str(answer): finding_meant_for(answer) for answer in wrong_answers(name)}
    silent = [title for title, each in found.items() if each is not None and not each.advice]
    assert not silent, f"no advice: {silent}"
    total("wrong answers that fail with the finding meant for them", len(wrong_answers(name)))


@pytest.mark.parametrize("name", EXERCISES)
def test_there_are_enough_answers(name: str) -> None:
    assert len(right_answers(name)) >= 4, f"{name} needs more right answers"
    assert len(wrong_answers(name)) >= 8, f"{name} needs more wrong answers"
    styles = Counter(answer.style for answer in answers_to(name))
    assert not [style for style, count in styles.items() if count > 1], "two of the same style"


def test_every_answer_belongs_to_an_exercise() -> None:
    assert folders().keys() == set(EXERCISES)


@pytest.mark.xdist_group("grouped")
def test_tests_can_be_grouped(request: pytest.FixtureRequest) -> None:
    """Otherwise every process examines every answer."""
    if request.config.getoption("loadgroup", default=False):
        assert request.node.nodeid.endswith("@grouped")


@pytest.mark.parametrize("name", ["retarget"])
def test_only_the_finding_meant_for_an_answer_counts(name: str) -> None:
    answer = wrong_answers(name)[0]
    found = find_catching_case(answer)[1]
    assert found is not None and found.code == answer.finding
    for other in (replace(answer, finding="no such finding"), right_one(name, answer)):
        assert find_catching_case(other) == ("", None)


@pytest.mark.parametrize("name", ["retarget"])
def test_only_cases_of_the_broken_clauses_count(name: str) -> None:
    answer = next(each for each in wrong_answers(name) if find_catching_case(each)[0])
    assert find_catching_case(replace(answer, clause="no-such-clause")) == ("", None)


def right_one(name: str, wrong: Answer) -> Answer:
    """A right answer that claims to be the wrong one."""
    return replace(right_answers(name)[0], finding=wrong.finding, clause=wrong.clause)
