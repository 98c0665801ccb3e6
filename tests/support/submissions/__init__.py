"""Whole notebooks with known scores: a class whose work is graded by `make grade-demo`.

Each submission is a released notebook after some edits, and says what each exercise earns
and why. Nothing here is computed by the judge. The submissions of a chapter are in
`tests/exercises/chNN_title/submissions.toml`; `reader` says how.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from nbformat.notebooknode import NotebookNode

from autograder.core.exercise import RANDOM
from autograder.exercises import EXERCISES, of_chapter
from tests.support.submissions.edits import Edit, edited, fill

ALL, NOTHING = Fraction(1), Fraction(0)


@dataclass(frozen=True)
class Submission:
    """One notebook that a student hands in.

    Attributes:
        student: who.
        chapter: the chapter's name.
        does: what is special about it, in a few words.
        answers: what is written into the answer cells, by exercise.
        edits: what else was done to the notebook.
        earns: the share of an exercise's points, where it is not `ALL` for what is answered
            and `NOTHING` for what is not.
        beside: files beside the notebook, by name.
        broken: what is handed in is only the first half of the file.
    """

    student: str
    chapter: str
    does: str
    answers: Mapping[str, str] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    earns: Mapping[str, Fraction] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)
    broken: bool = False

    def notebook(self, released: NotebookNode) -> NotebookNode:
        """The released notebook after the student's work."""
        filled = [fill(name, text) for name, text in self.answers.items()]
        return edited(released, *filled, *self.edits)

    def points(self) -> dict[str, float]:
        """The points that each exercise of the chapter must get."""
        shares = {name: ALL for name in self.answers} | dict(self.earns)
        return {
            exercise.name: float(shares.get(exercise.name, NOTHING) * exercise.points)
            for exercise in of_chapter(self.chapter)
        }


def all_but(exercise: str, *lost: str) -> Fraction:
    """The share that an answer earns which loses these aspects, by the weights in the syllabus.

    With any of them it loses the share of random models, which are tried on nothing less than
    an answer for which all else holds.

    Raises:
        LookupError: the exercise has no such aspect.
    """
    weights = {aspect.key: aspect.weight for aspect in EXERCISES[exercise].all_aspects}
    for key in lost:
        if key not in weights:
            raise LookupError(f"{exercise} has no aspect '{key}', only {', '.join(weights)}")
    if RANDOM.key in weights and lost:
        lost = tuple({*lost, RANDOM.key})
    if next(iter(weights)) in lost:
        return NOTHING
    return 1 - Fraction(sum(weights[key] for key in lost), sum(weights.values()))
