"""Prints the cards of the panel's answers, as a learner reads them.

python -m tests.exam.panel.show [a part of "exercise: title" ...]
"""

from __future__ import annotations

import sys
import warnings

from autograder.api import exercise_called, verdict_on
from autograder.cards.card_text import card_text
from tests.exam.panel import all_mistakes


def main(wanted: list[str]) -> None:
    """Print the cards whose title has one of these texts in it; by default all."""
    warnings.filterwarnings("ignore")
    for mistake in all_mistakes():
        if wanted and not any(text in str(mistake) for text in wanted):
            continue
        exercise = exercise_called(mistake.exercise)
        verdict = verdict_on(exercise, mistake.write, hidden=False)
        print(f"{'=' * 90}\n## {mistake}   [{verdict.status}]")
        print(card_text(verdict, exercise), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
