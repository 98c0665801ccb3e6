"""Hidden cases of `rematerialize`."""

from __future__ import annotations

from autograder.exercises.ch16_training.rematerialize import models
from autograder.exercises.ch16_training.rematerialize.cases import NAMES, again, refused

REDRAWS = (
    again("two calls", "task", models.Late, "tanh", "sin"),
    again("three in a row", "chains", models.Chain, "exp", "sin", "cos"),
    refused("the name of the output", models.Late, "sin", "output", advice=NAMES),
)
