"""What cards quote of a task's fine print stands there, and belongs to cases that exist."""

from __future__ import annotations

import pytest

from autograder.builder.card_headings import above_the_fold
from autograder.builder.paths import SOLUTIONS
from autograder.builder.source import read
from autograder.core.exercise import Exercise
from autograder.exercises import EXERCISES

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
