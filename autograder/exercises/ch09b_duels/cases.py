"""What all duels have in common: their cases, and what their cards say."""

from __future__ import annotations

from autograder.core.exercise import Aspect, Case, Exercise
from autograder.models.duels import MadeUnder

CHAPTER = "09b_duels"
SEEDS = (0, 1, 2)

NOT_RANDOM = "the learner gives the model"


def duel(
    name: str,
    number: int,
    title: str,
    home: str,
    hints: tuple[str, ...],
    *,
    stars: int = 2,
    minutes: int = 8,
    chapter: str = CHAPTER,
) -> Exercise:
    """A duel.

    Args:
        name: the name of the class that is handed in.
        number: its place in the chapter.
        title: a short heading.
        home: the package of its folder.
        hints: markdown.
        stars: how hard it is.
        minutes: how long it should take.
        chapter: stem of the chapter's file.
    """
    return Exercise(
        name=name,
        number=number,
        chapter=chapter,
        title=title,
        stars=stars,
        minutes=minutes,
        points=2 * stars,
        procedure="witness",
        aspects=(Aspect("witness", 1, "a model on which the suspect is wrong"),),
        cases=tuple(Case(f"made under seed {s}", "witness", MadeUnder(s)) for s in SEEDS),
        rubric=f"{home}.rubric",
        hints=hints,
        not_random=NOT_RANDOM,
    )
