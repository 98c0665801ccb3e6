"""Exercise 9b.5: double negations."""

from __future__ import annotations

from autograder.authoring.question import duel

HINTS = (
    "The suspect finds the pattern, and replaces it by its input. The values are the same. What "
    "is different between `torch.neg(torch.neg(a))` and `a` itself, as objects?",
    "After the replacement, the readers of the second negation read `a`. Change one of the two "
    "afterwards, and let the result show the other.",
)

EXERCISE = duel(
    5,
    "Two signs too many",
    HINTS,
    stars=2,
    minutes=8,
)
