"""Estimates the minutes of a chapter or a section: reading, and exercises."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.builder.card_headings import Card
from autograder.builder.predictions import is_prediction
from autograder.builder.source import Chapter

WORDS_A_MINUTE = 150
LINES_A_MINUTE = 12
DRILL_MINUTES = 3
PREDICTION_MINUTES = 1
ROUNDED_TO = 5
"""The minutes of a whole chapter are rounded up to a multiple of this."""

_UNCOUNTED_TAGS = ("card", "solve", "check", "hint", "proof", "drill")
_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.M | re.S)
_MARKUP = re.compile(r"</?[a-z][^<>]*>|\]\([^()\s]*\)")
_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Effort:
    """Amount of reading in a chapter, and minutes of its exercises.

    Attributes:
        words: of prose, including predictions and *Common mistakes*.
        lines: of code that a learner reads, without blank ones.
        exercises: minutes of exercises, from the cards.
        small: minutes of drills and predictions.
    """

    words: int
    lines: int
    exercises: int
    small: int = 0

    @property
    def minutes(self) -> int:
        """All minutes, rounded up."""
        reading = self.words / WORDS_A_MINUTE + self.lines / LINES_A_MINUTE
        return math.ceil(reading) + self.doing

    @property
    def doing(self) -> int:
        """The minutes that are not reading."""
        return self.exercises + self.small

    @property
    def about(self) -> int:
        """The minutes for a chapter's first cell, rounded up to a multiple of `ROUNDED_TO`."""
        return math.ceil(self.minutes / ROUNDED_TO) * ROUNDED_TO


def effort(chapter: Chapter, cards: Sequence[Card]) -> Effort:
    """Count the reading and the exercises of a chapter.

    The cells of an exercise do not count: its minutes include the time for card, stub and check.
    Proofs do not count either, because the learner's notebook does not have them.

    Args:
        chapter: as read; all of its cells, or those of a section.
        cards: the exercises; those without a card among the cells do not count.
    """
    words = lines = 0
    for cell in chapter.cells:
        if cell.tag in _UNCOUNTED_TAGS:
            continue
        if cell.kind == "code":
            lines += _lines(cell.source)
        else:
            lines += sum(_lines(code) for code in _FENCE.findall(cell.source))
            words += words_of(_FENCE.sub("", cell.source))
    asked = {cell.value for cell in chapter.tagged("card")}
    exercises = sum(card.minutes for card in cards if card.name in asked)
    small = DRILL_MINUTES * len(chapter.tagged("drill"))
    small += PREDICTION_MINUTES * sum(map(is_prediction, chapter.cells))
    return Effort(words, lines, exercises, small)


def minutes_of(chapter: Chapter, cards: Sequence[Card]) -> int:
    """The minutes that a chapter takes."""
    return effort(chapter, cards).minutes


def words_of(text: str) -> int:
    """Count the words that a person reads in markdown, without tags, addresses and table rules."""
    return sum(bool(_WORD.search(word)) for word in _MARKUP.sub(" ", text).split())


def _lines(code: str) -> int:
    return sum(bool(line.strip()) for line in code.splitlines())
