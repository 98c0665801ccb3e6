"""Two small exercises about numbers, for tests of classrooms. Kernels import them too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from autograder.core.exercise import Aspect, Case, Exercise, Expect, Trial
from autograder.core.outcome import Reference
from autograder.core.verdict import Finding
from autograder.judge import Evidence
from autograder.judge.answer_key import AnswerKey
from autograder.judge.rule import Stage, rule
from tests.support.numbers.numbers_models import Given

CHAPTER = "07_numbers"


@dataclass(frozen=True)
class Wanted(Expect):
    """The expected result is part of the case, so no reference is stored.

    Attributes:
        number: the expected result.
    """

    number: float = 0.0


@rule("right number", Stage.RESULT)
def _right_number(evidence: Evidence) -> Iterator[Finding]:
    wanted = evidence.expects(Wanted).number
    if evidence.outcome.value != wanted:
        yield evidence.finding("wrong-value", f"`{evidence.exercise.name}` should give {wanted}.")


def _case(name: str, aspect: str, number: float, wanted: float, hidden: bool = False) -> Case:
    return Case(name, aspect, Given(number), Wanted(number=wanted), hidden)


def _anything(trial: Trial) -> Reference:
    return Reference(0)


KEY = AnswerKey((_right_number,), _anything)


class RandomNumbers:
    """A replacement for random models: the seed decides the numbers."""

    count = 3

    def cases(self, seed: int = 0, count: int | None = None) -> tuple[Case, ...]:
        """The cases of a seed."""
        numbers = (float(seed % 1000 + i) for i in range(1, self.count + 1))
        return tuple(_case(f"random {i}", "random", n, n / 2) for i, n in enumerate(numbers))

    def pool(self, pool: int) -> Iterator[Case]:
        """Return no shares, because every seed makes other numbers."""
        return iter(())

    def smallest(self, case: Case, fails: object) -> Case:
        """Return the case itself, because numbers cannot be made smaller."""
        return case


def _exercise(
    name: str, points: int, *cases: Case, random: RandomNumbers | None = None
) -> Exercise:
    aspects = (Aspect("task", 2, "ordinary numbers"), Aspect("rare", 1, "negative numbers"))
    return Exercise(
        name=name,
        chapter=CHAPTER,
        title=name.title(),
        stars=1,
        minutes=5,
        points=points,
        kind="analysis",
        aspects=aspects,
        cases=cases,
        key=__name__,
        hints=(),
        random=random,
    )


EXERCISES = {
    exercise.name: exercise
    for exercise in (
        _exercise(
            "after",
            6,
            _case("one", "task", 1, 2),
            _case("minus one", "rare", -1, -2),
            _case("nine", "task", 9, 10, hidden=True),
        ),
        _exercise(
            "half",
            3,
            _case("four", "task", 4, 2.0),
            _case("minus four", "rare", -4, -2.0),
            random=RandomNumbers(),
        ),
    )
}
