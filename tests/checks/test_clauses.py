"""For every clause of a task, a wrong answer breaks it or a reason is stated."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograder.exercises import EXERCISES
from tests.checks.clauses import COMMON, Clause, broken_by, of_exercise, read, rows, table
from tests.exercises import all_answers, answers_to, clauses_of


def faults(clause: Clause) -> str:
    """The fault of a clause, or ``""``."""
    if not clause.says.endswith("."):
        return f"`{clause.id}` is no sentence: {clause.says}"
    if clause.answers and clause.reason:
        return f"`{clause.id}` has an answer; why a reason?"
    if not clause.answers and not clause.reason:
        return f"No wrong answer breaks `{clause.id}`: {clause.says}"
    return ""


@pytest.mark.parametrize("name", EXERCISES)
def test_a_clause_has_a_wrong_answer_or_a_reason(name: str, total: Callable[..., None]) -> None:
    clauses = of_exercise(name)
    assert clauses, f"{name} has no clause"
    assert [fault for clause in clauses if (fault := faults(clause))] == []
    assert broken_by(a for a in answers_to(name) if a.finding is None) == {}
    total("clauses that a wrong answer breaks", sum(bool(clause.answers) for clause in clauses))
    total("clauses with a reason", sum(bool(clause.reason) for clause in clauses))


@pytest.mark.xdist_group("all answers")
def test_the_common_clauses_have_wrong_answers() -> None:
    clauses = rows(COMMON, all_answers())
    assert clauses and [fault for clause in clauses if (fault := faults(clause))] == []


@pytest.mark.xdist_group("all answers")
def test_answers_name_clauses_that_there_are() -> None:
    named = {clause for answer in all_answers() for clause in clauses_of(answer)}
    assert named <= {clause.id for clause in table()}


@pytest.mark.parametrize("name", [COMMON, *EXERCISES])
def test_each_reason_belongs_to_a_clause(name: str) -> None:
    said, reasons = read(name)
    assert reasons.keys() <= said.keys()
