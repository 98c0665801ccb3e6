"""The stored reference outputs are those of the solutions."""

from __future__ import annotations

import pytest

from autograder import grade
from autograder.builder.generate_references import solutions_of, write_all
from autograder.exercises import EXERCISES, FOLDER, of_chapter
from autograder.judge.references import FILE

STEMS = list(dict.fromkeys(exercise.chapter for exercise in EXERCISES.values()))


@pytest.mark.parametrize("chapter", STEMS)
def test_references_are_fresh(chapter: str) -> None:
    """What an oracle knows is not stored: there, oracle and solution are compared."""
    assert write_all(check_only=True, only=(chapter,)) == [], "run `fxcourse references`"


def test_few_references_are_stored() -> None:
    paths = FOLDER.glob(f"*/*/{FILE}")
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths) <= 400


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_is_what_its_folder_says(name: str) -> None:
    exercise = EXERCISES[name]
    home = f"autograder.exercises.ch{exercise.chapter}.{name}"
    assert (exercise.name, exercise.rubric) == (name, f"{home}.rubric")


@pytest.mark.parametrize("chapter", STEMS)
def test_the_exercises_of_a_chapter_are_numbered(chapter: str) -> None:
    numbers = [exercise.number for exercise in of_chapter(chapter)]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("name", EXERCISES)
def test_solution_passes_its_own_check(name: str) -> None:
    verdict = grade(name, solutions_of(EXERCISES[name].chapter)[name])
    assert verdict.passed, [(f.case, f.code, f.message) for f in verdict.findings]
