"""Exercise 9b.1: a pass that relies on names."""

from __future__ import annotations

from autograder.authoring.question import duel

HINTS = (
    "The suspect looks at `node.name`, not at `node.target`. Trace a model with one call, and "
    "print the name of its node. Which other functions have names that begin in the same way?",
    "`dir(torch)` and `dir(F)` list the functions of PyTorch. Look for those that begin with the "
    "name of the one that is meant. A function that comes close to the right one may still give "
    "the same for your `inputs`: try large numbers, and negative ones.",
)

EXERCISE = duel(
    1,
    "A pass that goes by names",
    HINTS,
    stars=1,
    minutes=6,
)
