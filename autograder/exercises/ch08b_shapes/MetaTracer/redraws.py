"""Hidden cases of `MetaTracer`."""

from __future__ import annotations

import torch

from autograder.exercises.ch08b_shapes.MetaTracer import models
from autograder.exercises.ch08b_shapes.MetaTracer.cases import (
    ASSUMED,
    of,
    one,
    several,
)

REDRAWS = (
    one("a branch", "task", models.TwoColumns, 5, 2),
    one("columns", "questions", models.Columns, 3, 2),
    one("an example and a default", "questions", models.Optional, 2, 3, y=of(2, 1)),
    one("a part's parameter, and a layer again", "leaves", models.Part, 3, 4),
    one(
        "layers of doubles",
        "leaves",
        models.Narrow,
        2,
        4,
        dtype=torch.float64,
        weights=torch.float64,
    ),
    one("a layer with a hook", "leaves", models.Hooked, 2, 4),
    several(
        "asked after an error",
        (models.Chosen, models.Narrow),
        ({"x": of(2, 4)},),
        ((0, 0), (0, 1)),
        expect=ASSUMED,
    ),
    several("changes in place, twice", (models.Turned,), ({"x": of(3, 4)},), ((0, 0), (0, 0))),
)
