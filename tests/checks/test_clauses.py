"""A clause of a task stands on a sentence of its chapter, has cases, and an answer breaks it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import pytest

from autograder.builder.paths import SOLUTIONS
from autograder.builder.source import read
from autograder.core.exercise import Exercise
from autograder.exercises import EXERCISES
from tests.checks.clauses import (
    COMMON,
    Clause,
    broken_by,
    cases_by_clause,
    of_exercise,
    running_text,
    table,
)
from tests.exercises import all_answers, answers_to, clauses_of


@cache
def prose_of(chapter: str) -> str:
    """The text of a chapter that is not code."""
    cells = read(SOLUTIONS / f"{chapter}.py")[0].cells
    return " ".join(running_text(cell.source) for cell in cells if cell.kind == "markdown")


def task_of(exercise: Exercise) -> str:
    """The text that tells a learner what an exercise requires: the card, and the docstring.

    The rules of all duels are in the text of the chapter.
    """
    cells = read(SOLUTIONS / f"{exercise.chapter}.py")[0].cells
    own = [cell for cell in cells if cell.value == exercise.name and cell.tag in ("card", "solve")]
    task = running_text(" ".join(_SOLUTION.sub("", cell.source) for cell in own))
    return f"{task} {prose_of(exercise.chapter)}" if exercise.kind == "witness" else task


_SOLUTION = re.compile(r"### BEGIN SOLUTION.*?### END SOLUTION", re.S)


def faults(clause: Clause, *texts: str) -> list[str]:
    """The faults of a clause that one of these texts must require."""
    found = []
    if not clause.says.endswith("."):
        found.append(f"`{clause.id}` is no sentence: {clause.says}")
    if not clause.card:
        found.append(f"`{clause.id}` quotes no sentence of its card")
    elif not any(running_text(clause.card) in text for text in texts):
        found.append(f"`{clause.id}` quotes what its task does not say: {clause.card}")
    if clause.answers and clause.reason:
        found.append(f"`{clause.id}` has an answer; why a reason?")
    if not clause.answers and not clause.reason:
        found.append(f"No wrong answer breaks `{clause.id}`: {clause.says}")
    return found


@pytest.mark.parametrize("name", EXERCISES)
def test_a_clause_has_a_sentence_and_a_wrong_answer(name: str, total: Callable[..., None]) -> None:
    clauses = of_exercise(name)
    assert clauses, f"{name} has no clause"
    task = task_of(EXERCISES[name])
    found = [fault for clause in clauses for fault in faults(clause, task)]
    assert not found, "\n".join(found)
    assert broken_by(a for a in answers_to(name) if a.finding is None) == {}
    total("clauses that a wrong answer breaks", sum(bool(clause.answers) for clause in clauses))
    total("clauses with a reason", sum(bool(clause.reason) for clause in clauses))


@pytest.mark.parametrize("name", EXERCISES)
def test_every_case_is_about_a_clause(name: str) -> None:
    named = {case for of_clause in cases_by_clause(name).values() for case in of_clause}
    cases = {case.name for case in EXERCISES[name].cases}
    assert sorted(cases - named) == [], "no clause names these cases"
    assert sorted(named - cases) == [], "there are no such cases"


LUCK = "its result is one of two, so a guess passes every second case"
FIRST_ASPECT_IS_VISIBLE = {
    "is_faithful": LUCK,
    "equivalent": LUCK,
    "inputs_of": "hidden cases are in 'nested' and 'once', 2 of 4 parts",
    "dead_nodes": "hidden cases are in 'ways', 1 of 4 parts",
    "wellformed": "hidden cases are in all other aspects, 4 of 6 parts",
    "record_shapes": "hidden cases are in 'others' and 'inputs', 2 of 7 parts",
    "fresh_noise": "hidden cases are in 'shapes' and 'normal', 2 of 5 parts",
}
"""Exercises with hidden cases, none of them in the first aspect; and why."""


@pytest.mark.parametrize("name", EXERCISES)
def test_an_answer_fitted_to_the_visible_cases_earns_nothing(name: str) -> None:
    hidden = {case.aspect for case in EXERCISES[name].cases if case.hidden}
    decides = EXERCISES[name].aspects[0].key in hidden
    assert not hidden or decides != (name in FIRST_ASPECT_IS_VISIBLE)


@pytest.mark.parametrize("name", EXERCISES)
def test_every_wrong_answer_breaks_a_clause(name: str) -> None:
    wrong = [answer for answer in answers_to(name) if answer.finding is not None]
    assert [str(answer) for answer in wrong if not clauses_of(answer)] == []


@pytest.mark.xdist_group("all answers")
def test_the_common_clauses_have_sentences_and_wrong_answers() -> None:
    texts = [prose_of(chapter) for chapter in {one.chapter for one in EXERCISES.values()}]
    clauses = [clause for clause in table() if clause.id.startswith(f"{COMMON}.")]
    assert clauses and [fault for clause in clauses for fault in faults(clause, *texts)] == []


@pytest.mark.xdist_group("all answers")
def test_an_answer_breaks_each_clause_alone() -> None:
    named = [clauses_of(answer) for answer in all_answers()]
    assert {clause for some in named for clause in some} == {
        some[0] for some in named if len(some) == 1
    }


@pytest.mark.xdist_group("all answers")
def test_answers_and_files_name_clauses_that_there_are() -> None:
    named = {clause for answer in all_answers() for clause in clauses_of(answer)}
    in_files = {clause for name in EXERCISES for clause in cases_by_clause(name)}
    assert named | in_files <= {clause.id for clause in table()}
