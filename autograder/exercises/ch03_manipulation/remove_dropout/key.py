"""What must come of `remove_dropout`."""

from __future__ import annotations

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    leaves_as_they_are,
    no_dropout_left,
    nothing_for_dropout,
    without_dropout,
)

KEY = AnswerKey((*PASS, no_dropout_left, leaves_as_they_are, nothing_for_dropout), without_dropout)

TRAP = """\
Two dropouts in a row. If you note all inputs before the loop, then the input of the second dropout
is the first one, and that node is gone by then. Read the input at the moment when you need it."""
"""What many answers get wrong; told after a pass."""
