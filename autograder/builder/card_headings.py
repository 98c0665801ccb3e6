"""Headings and folds of exercise cards, and the facts of an exercise that they show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

STRETCH = 3
"""From this many stars on, the card says that a learner may move on."""


FINE_PRINT = "**Fine print**"
"""A line of a card; the text after it is folded."""


class Card(Protocol):
    """The part of `autograder.core.exercise.Exercise` that a notebook shows."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def stars(self) -> int: ...
    @property
    def minutes(self) -> int: ...
    @property
    def points(self) -> float: ...
    @property
    def hints(self) -> Sequence[str]: ...


def found_exercises(chapter: str) -> tuple[Card, ...]:
    """The exercises of a chapter such as ``03_manipulation``, in course order."""
    from autograder import exercises  # imports torch, which the builder's tests do not need

    return tuple(exercises.of_chapter(chapter))


def heading(card: Card, chapter: str, number: int) -> str:
    """The heading above an exercise card, in markdown.

    Args:
        card: the exercise.
        chapter: the chapter's name; its leading number becomes part of the exercise's number.
        number: the exercise's number in its chapter, counted from 1.
    """
    label = f"{chapter.split('_')[0].lstrip('0') or '0'}.{number}"
    facts = [
        f"### Exercise {label} `{card.name}`",
        card.title,
        "★" * card.stars,
        _counted(card.minutes, "minute"),
        _counted(card.points, "point"),
    ]
    line = " · ".join(facts)
    if card.stars < STRETCH:
        return line
    return line + "\n\n*This one is a stretch. It is fine to move on and to come back later.*"


def above_the_fold(source: str) -> str:
    """The part of a card that is always visible."""
    return source.partition(f"\n{FINE_PRINT}\n")[0]


def with_fold(source: str) -> str:
    """The card with its fine print folded."""
    above, mark, below = source.partition(f"\n{FINE_PRINT}\n")
    if not mark:
        return source
    fold = f"<details>\n<summary>Fine print</summary>\n\n{below.strip()}\n\n</details>"
    return f"{above.rstrip()}\n\n{fold}"


def _counted(count: float, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
