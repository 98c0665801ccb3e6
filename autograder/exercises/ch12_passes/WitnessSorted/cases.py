"""Exercise 12.3: calls that a sort by inputs alone moves."""

from __future__ import annotations

from autograder.authoring.question import duel

HINTS = (
    "The suspect looks at inputs alone. Which calls must come before another call that does not "
    "read their value? Chapter 3b had a list of them.",
    "It takes what is ready: a node as soon as all that it reads is there. Some kinds of "
    "calls come before other ready ones. Print the order that it gives to a few calls of your "
    "choice: which of them have moved ahead?",
)

EXERCISE = duel(
    3,
    "A product that overtakes",
    HINTS,
    stars=2,
    minutes=8,
)
