"""Every clause of the contract is broken by a wrong answer of the exam, or a reason is stated."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograder.exercises import EXERCISES
from tests.exam.answers import all_answers, clauses_of
from tests.exam.clauses import Clause, broken_by, files, read, table, without_clauses


@pytest.mark.parametrize("clause", table(), ids=lambda clause: clause.id)
def test_a_clause_has_a_wrong_answer_or_a_reason(
    clause: Clause, total: Callable[[str], None]
) -> None:
    assert clause.says.endswith(".")
    assert clause.answers or clause.reason, f"no wrong answer breaks `{clause.id}`: {clause.says}"
    assert not (clause.answers and clause.reason), f"`{clause.id}` has an answer; why a reason?"
    total("clauses that a wrong answer breaks" if clause.answers else "clauses with a reason")


def test_answers_name_clauses_that_there_are() -> None:
    assert broken_by().keys() <= {clause.id for clause in table()}


def test_only_wrong_answers_break_clauses() -> None:
    assert not [str(a) for a in all_answers() if clauses_of(a) and a.finding is None]


def test_reasons_belong_to_clauses() -> None:
    for path in files():
        said, reasons = read(path)
        assert reasons.keys() <= said.keys(), path.name


def test_every_exercise_has_clauses() -> None:
    assert not without_clauses()


def test_clauses_stand_in_the_file_of_their_chapter() -> None:
    for path in files():
        names = {id.partition(".")[0] for id in read(path)[0]}
        chapters = {EXERCISES[name].chapter for name in names - {"common"}}
        assert chapters <= {path.stem}, path.name
