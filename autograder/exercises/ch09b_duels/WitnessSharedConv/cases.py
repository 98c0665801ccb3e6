"""Exercise 9b.7: weights with other readers."""

from __future__ import annotations

from autograder.authoring.question import duel

HINTS = (
    "Fusing a BatchNorm into a convolution changes the convolution's weights. Who else may "
    "read them? Give your BatchNorm statistics that are not those of a new one: a new one hardly "
    "changes anything, so that its fusion shows only for large inputs.",
    "Call one convolution twice, or read its weight in `forward`. A second road: the suspect takes "
    "linear layers, too, and a BatchNorm can be without weights of its own.",
)

EXERCISE = duel(
    7,
    "Weights that others read",
    HINTS,
    stars=2,
    minutes=12,
)
