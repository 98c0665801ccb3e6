"""Builders for the cases of `numbers_syllabus`: the only part that a student's process imports."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.core.exercise import Trial


@dataclass(frozen=True)
class Given:
    """Builds the objects of a case: a number."""

    number: float

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        return Trial(args=(self.number,))
