"""Hidden cases of `split_at`."""

from __future__ import annotations

from autograder.exercises.ch07b_cutting.split_at import models
from autograder.exercises.ch07b_cutting.split_at.cases import refuse

REDRAWS = (
    refuse("an input that nobody reads", models.Defaults, "unread"),
    refuse("the output, under another name", models.NamedOutput, "output_1"),
)
