"""Exercise 9b.6: calls that look equal."""

from __future__ import annotations

from autograder.authoring.question import duel

HINTS = (
    "The suspect joins two calls with the same target and equal arguments. When do two such calls "
    "give different values? One answer is about the operation, another one about what happens "
    "between the two calls.",
    "A third answer is about `equal`: in Python `1 == 1.0` and `0.0 == -0.0`. For which tensors "
    "does it matter which of the two is added, or multiplied?",
)

EXERCISE = duel(
    6,
    "Calls that look equal",
    HINTS,
    stars=2,
    minutes=8,
)
