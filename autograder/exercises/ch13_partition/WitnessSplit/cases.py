"""Exercise 13.3: two pieces that do not depend on each other."""

from __future__ import annotations

from autograder.authoring.question import duel

HINTS = (
    "By default, a piece waits for another one only if it reads a value of it. Which two calls "
    "must stay in order although neither reads the other's value?",
    "There must be two pieces, so use two kinds of calls: a function and a method, such as "
    "`torch.exp(x)` and `x.exp()`. And one of them must do something that the other one sees.",
)

EXERCISE = duel(
    3,
    "Two pieces that do not know of each other",
    HINTS,
    stars=2,
    minutes=8,
)
