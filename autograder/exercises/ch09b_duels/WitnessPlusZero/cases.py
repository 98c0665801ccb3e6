"""Exercise 9b.4: sums with zero."""

from __future__ import annotations

from autograder.authoring.question import duel

HINTS = (
    "For numbers `x + 0` is `x`. For tensors, compare more than the values: which other properties "
    "has a result that a test would compare?",
    "Two directions lead to a witness. One: what is the dtype of an integer tensor plus `0.0`? "
    "The other: `x + 0` is a new tensor, and `x` is not. Who notices?",
)

EXERCISE = duel(
    4,
    "Sums with zero",
    HINTS,
    stars=2,
    minutes=8,
)
