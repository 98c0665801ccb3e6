"""How long a chapter or a section takes: the minutes of reading, and the minutes of doing."""

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

_NOT_READ_HERE = ("card", "solve", "check", "hint", "proof", "drill")
_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.M | re.S)
_NOT_READ = re.compile(r"</?[a-z][^<>]*>|\]\([^()\s]*\)")
_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Effort:
    """What a learner reads of a chapter, and what its exercises take.

    Attributes:
        words: of prose, predictions and *Common mistakes* included.
        lines: of code that a learner reads, without blank ones.
        exercises: minutes, as the cards say.
        small: minutes of drills and predictions.
    """

    words: int
    lines: int
    exercises: int
    small: int = 0

    @property
    def minutes(self) -> int:
        """All of it, in minutes; a begun one is counted."""
        reading = self.words / WORDS_A_MINUTE + self.lines / LINES_A_MINUTE
        return math.ceil(reading) + self.doing

    @property
    def doing(self) -> int:
        """The minutes that are not reading."""
        return self.exercises + self.small

    @property
    def about(self) -> int:
        """The minutes as a chapter's first cell says them, rounded up."""
        return math.ceil(self.minutes / ROUNDED_TO) * ROUNDED_TO


def effort(chapter: Chapter, cards: Sequence[Card]) -> Effort:
    """What there is to read and to do in a chapter.

    The cells of an exercise are not counted: its minutes include the time for card, stub and
    check. Neither are proofs, which the learner's notebook does not have.

    Args:
        chapter: as it was read; all of its cells, or those of a section.
        cards: the exercises; those without a card among the cells are not counted.
    """
    words = lines = 0
    for cell in chapter.cells:
        if cell.tag in _NOT_READ_HERE:
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
    """How many words a person reads in markdown: no tags, addresses or rules of tables."""
    return sum(bool(_WORD.search(word)) for word in _NOT_READ.sub(" ", text).split())


def _lines(code: str) -> int:
    return sum(bool(line.strip()) for line in code.splitlines())
