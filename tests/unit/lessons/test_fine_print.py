"""Cards quote a task's fine print word for word, for existing cases."""

from __future__ import annotations

import pytest

from autograder.builder.card_headings import above_the_fold
from autograder.builder.paths import SOLUTIONS
from autograder.builder.source import read
from autograder.core.exercise import Exercise
from autograder.exercises import EXERCISES
from tests.checks.examination import examine
from tests.exercises import answers_to

QUOTING = {name: exercise for name, exercise in EXERCISES.items() if exercise.fine_print}


def fine_print_of(exercise: Exercise) -> str:
    """The folded part of a task, in one line."""
    chapter, _ = read(SOLUTIONS / f"{exercise.chapter}.py")
    card = next(cell.source for cell in chapter.tagged("card") if cell.value == exercise.name)
    return " ".join(card[len(above_the_fold(card)) :].split())


@pytest.mark.parametrize("name", QUOTING)
def test_a_quoted_sentence_stands_in_the_fold(name: str) -> None:
    exercise, fold = QUOTING[name], fine_print_of(QUOTING[name])
    assert [says for says in exercise.fine_print if says not in fold] == []
    named = [case for cases in exercise.fine_print.values() for case in cases]
    assert set(named) <= {case.name for case in exercise.cases}
    assert len(named) == len(set(named)), "a case stands on one sentence"


@pytest.mark.parametrize(
    ("name", "style", "says"),
    [
        ("remove_dropout", "functions forgotten", "`F.dropout(x)` alone is active"),
        ("remove_dropout", "keyword calls skipped", ""),
    ],
)
def test_the_card_of_a_wrong_answer_quotes_the_sentence_that_it_overlooks(
    name: str, style: str, says: str
) -> None:
    (answer,) = (one for one in answers_to(name) if one.style == style)
    example = examine(answer)[1].example
    assert example and bool(example.fine_print) == bool(says)
    assert example.fine_print.startswith(says)
