"""Hidden cases of `minimize`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch09c_sources.minimize import models
from autograder.exercises.ch09c_sources.minimize.cases import X, asked

STRAIGHT = ("sin", "neg", "add", "relu", "tanh", "exp")
"""The calls of `models.Straight`."""

REDRAWS = (
    asked("a chain", "task", models.Twins, models.Calls, "tanh", 1),
    asked(
        "a parameter in its place",
        "inputs",
        models.Table,
        models.SameShapes,
        [2, 3],
        inputs=(T(3),),
    ),
    asked("in a slice", "inputs", models.Sliced, models.Depends, "size", inputs=(X, X)),
    asked("unread, with an effect", "unread", models.Effects, models.Depends, "sin"),
    asked("from the beginning", "rounds", models.Straight, models.EndsAs, *STRAIGHT),
    asked("from the end", "rounds", models.Straight, models.BeginsAs, *STRAIGHT),
    asked("a gradient", "asks", models.Lone, models.Learns, "Linear"),
)
