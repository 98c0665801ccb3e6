"""Exercise 9b.2: a rule for ReLU with a gap."""

from __future__ import annotations

from autograder.authoring.question import duel

HINTS = (
    "`(x > 0) * x` is right for ordinary numbers. Which floating point numbers are not ordinary? "
    "Make a table: a number, what `torch.relu` makes of it, and what the rule makes of it.",
    "The comparison gives `False` where the number is not above zero, and `False` is multiplied "
    "as a zero. Is there a number for which zero times the number is not zero?",
)

EXERCISE = duel(
    2,
    "A rule for ReLU with a hole",
    HINTS,
    stars=1,
    minutes=6,
)
