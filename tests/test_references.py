"""The stored reference outputs are those of the solutions."""

from __future__ import annotations

import pytest

from autograder import grade
from autograder.builder.generate_references import solutions_of, write_all
from autograder.exercises import CHAPTERS, EXERCISES, exercises_in

STEMS = list(dict.fromkeys(exercise.chapter for exercise in EXERCISES.values()))


@pytest.mark.parametrize("chapter", STEMS)
def test_references_are_fresh(chapter: str) -> None:
    assert write_all(check_only=True, only=(chapter,)) == [], "run `fxcourse references`"


def test_the_syllabus_names_what_its_modules_hold() -> None:
    for home, names in CHAPTERS.items():
        assert [exercise.name for exercise in exercises_in(home)] == names.split()


@pytest.mark.parametrize("name", EXERCISES)
def test_solution_passes_its_own_check(name: str) -> None:
    verdict = grade(name, solutions_of(EXERCISES[name].chapter)[name])
    assert verdict.passed, [(f.case, f.code, f.message) for f in verdict.findings]
