"""Whole notebooks with known scores: a class that `make grade-demo` grades.

Each submission is a released notebook after some edits, with the share of the points for each
exercise and the reason. The judge computes none of these shares. The submissions of a chapter are
in `tests/exercises/chNN_title/submissions.toml`; `reader` describes the format.
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
    """One submitted notebook.

    Attributes:
        student: the student's id.
        chapter: the chapter's name.
        does: its special feature, in a few words.
        answers: code for the answer cells, by exercise.
        edits: other changes to the notebook.
        earns: the share of an exercise's points, if it is not `ALL` for an answered exercise or
            `NOTHING` for another one.
        extra_files: files next to the notebook, by name.
        broken: whether only the first half of the file is submitted.
    """

    student: str
    chapter: str
    does: str
    answers: Mapping[str, str] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    earns: Mapping[str, Fraction] = field(default_factory=dict)
    extra_files: Mapping[str, str] = field(default_factory=dict)
    broken: bool = False

    def notebook(self, released: NotebookNode) -> NotebookNode:
        """The released notebook with the student's changes."""
        filled = [fill(name, text) for name, text in self.answers.items()]
        return edited(released, *filled, *self.edits)

    def points(self) -> dict[str, float]:
        """The expected points of each exercise of the chapter."""
        shares = {name: ALL for name in self.answers} | dict(self.earns)
        return {
            exercise.name: float(shares.get(exercise.name, NOTHING) * exercise.points)
            for exercise in of_chapter(self.chapter)
        }


def all_but(exercise: str, *lost: str) -> Fraction:
    """The share that an answer earns if it loses these aspects, by the weights in the syllabus.

    With any of them it also loses the share of random models, which are tried only on an answer
    that passes everything else.

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
