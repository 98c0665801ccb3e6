"""Hidden cases of `split_at`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch07b_cutting.split_at import models
from autograder.exercises.ch07b_cutting.split_at.cases import cut, refuse

REDRAWS = (
    cut("a chain", "task", models.Longer, "linear", (T(1, 3),)),
    refuse("an input that nobody reads", models.Defaults, "unread"),
    refuse("the output, under another name", models.NamedOutput, "output_1"),
)
