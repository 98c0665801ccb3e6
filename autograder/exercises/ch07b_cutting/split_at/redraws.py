"""Hidden cases of `split_at`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch07b_cutting.split_at import models
from autograder.exercises.ch07b_cutting.split_at.cases import WIDE, cut, refuse

REDRAWS = (
    cut("a chain", "task", models.Straight, "tanh", (T(1, 3),)),
    cut("crossing", "crossing", models.Skips, "relu", (WIDE,)),
    cut("sides", "sides", models.Twice, "act_1", (WIDE,)),
    cut("shared", "shared", models.Weighted, "add", (WIDE,)),
    cut("signature", "signature", models.Defaults, "sin", (WIDE, 1)),
    refuse("a method's name", models.Skips, "sum"),
    refuse("an input that nobody reads", models.Defaults, "unread"),
    cut("a layer called output", "errors", models.NamedOutput, "output"),
    refuse("the output, under another name", models.NamedOutput, "output_1"),
    cut("in place", "in place", models.InPlace, "linear", (WIDE,)),
)
