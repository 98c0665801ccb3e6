"""How cases of duels are made: there is nothing in them but a seed."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.core.exercise import Trial


@dataclass(frozen=True)
class MadeUnder:
    """Builds a trial in which an answer makes its own objects under a seed."""

    seed: int

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        return Trial(made_under=self.seed)
