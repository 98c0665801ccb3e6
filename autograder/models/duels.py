"""The declaration of duels, and their cases, which consist of a seed only."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.core.exercise import Aspect, Case, Exercise, Trial

SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class MadeUnder:
    """Builds a trial in which an answer makes its own objects under a seed."""

    seed: int

    def __call__(self, seed: int) -> Trial:
        """Make a new trial."""
        return Trial(made_under=self.seed)


def duel(
    number: int,
    title: str,
    hints: tuple[str, ...],
    *,
    stars: int = 2,
    minutes: int = 8,
) -> Exercise:
    """Declare a duel, whose answer is a model.

    Args:
        number: its place in the chapter.
        title: a short heading.
        hints: markdown.
        stars: its difficulty; each star is worth two points.
        minutes: the expected time.
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
