"""Exercise 9b.3: calls that nothing reads."""

from __future__ import annotations

from autograder.authoring.question import duel

HINTS = (
    "Nobody reads a call, and still it matters: what can a call do besides giving a value? Then "
    "look for an operation that does that, and give its value to nobody.",
    "A method whose name ends in `_` changes the tensor that it is called on. Who sees the change "
    "once the call is gone: the result, or the argument after the run?",
)

EXERCISE = duel(
    3,
    "Calls that nobody reads",
    HINTS,
    stars=2,
    minutes=8,
)
