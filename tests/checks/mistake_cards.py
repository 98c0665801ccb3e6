"""Prints the cards of beginners' mistakes as a learner reads them, and counts their ratings.

python -m tests.checks.mistake_cards [a part of "exercise: title" ...]
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter

from autograder.api import exercise_called, verdict_on
from autograder.cards.card_text import card_text
from tests.exercises.mistakes import all_mistakes


def main(wanted: list[str]) -> None:
    """Print the cards whose titles contain one of these texts; by default all."""
    warnings.filterwarnings("ignore")
    ratings: Counter[str] = Counter()
    for mistake in all_mistakes():
        if wanted and not any(text in str(mistake) for text in wanted):
            continue
        exercise = exercise_called(mistake.exercise)
        verdict = verdict_on(exercise, mistake.write, hidden=False)
        print(f"{'=' * 90}\n## {mistake}   [{verdict.status}; the card {mistake.rating}]")
        print(card_text(verdict, exercise), flush=True)
        ratings[mistake.rating] += 1
    print(*(f"{count} of {ratings.total()} cards: {rating}" for rating, count in ratings.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
