"""Duels: their cases, which hold nothing but a seed, and what they have in common."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.core.exercise import Aspect, Case, Exercise, Trial

SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class MadeUnder:
    """Builds a trial in which an answer makes its own objects under a seed."""

    seed: int

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        return Trial(made_under=self.seed)


def duel(
    number: int,
    title: str,
    hints: tuple[str, ...],
    *,
    stars: int = 2,
    minutes: int = 8,
) -> Exercise:
    """A duel, whose answer is a model.

    Args:
        number: its place in the chapter.
        title: a short heading.
        hints: markdown.
        stars: how hard it is; each is worth two points.
        minutes: how long it should take.
    """
    return Exercise(
        number=number,
        title=title,
        stars=stars,
        minutes=minutes,
        points=2 * stars,
        kind="witness",
        aspects=(Aspect("witness", 1, "a model on which the suspect is wrong"),),
        cases=tuple(Case(f"made under seed {s}", "witness", MadeUnder(s)) for s in SEEDS),
        hints=hints,
        not_random="the learner gives the model",
    )
