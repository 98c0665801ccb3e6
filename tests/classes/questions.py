"""The exercises of `two_questions`: those about numbers, such that any process can judge them.

Fork servers import this module, so it is kept apart from what makes a class.
"""

from __future__ import annotations

from dataclasses import replace

from autograder.core.exercise import Case, Exercise, Trial
from autograder.core.outcome import Reference
from tests import numbers_syllabus as numbers

CHAPTER = numbers.CHAPTER


def _nothing_stored(trial: Trial) -> Reference:
    """No reference is stored for numbers: what must come of a case stands in the case."""
    return Reference(value=0)


def _known(case: Case) -> Case:
    return replace(case, oracle=_nothing_stored)


class _Numbers(numbers.RandomNumbers):
    """The random numbers, with no need of a stored reference either."""

    def cases(self, seed: int = 0, count: int | None = None) -> tuple[Case, ...]:
        """The cases of a seed."""
        return tuple(map(_known, super().cases(seed, count)))


def _judged_anywhere(exercise: Exercise) -> Exercise:
    cases = tuple(map(_known, exercise.cases))
    return replace(exercise, cases=cases, random=_Numbers() if exercise.random else None)


EXERCISES = {name: _judged_anywhere(exercise) for name, exercise in numbers.EXERCISES.items()}
