"""Hidden cases of `kept_bytes`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch16_training.kept_bytes import models
from autograder.exercises.ch16_training.kept_bytes.cases import step

REDRAWS = (
    step("a chain of longer values", "task", models.Chain, T(5, 3)),
    step("pieces of one memory", "memory", models.Pieces),
)
