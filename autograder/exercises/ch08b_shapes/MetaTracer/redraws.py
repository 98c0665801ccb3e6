"""Hidden cases of `MetaTracer`."""

from __future__ import annotations

import torch

from autograder.exercises.ch08b_shapes.MetaTracer import models
from autograder.exercises.ch08b_shapes.MetaTracer.cases import (
    ASSUMED,
    NOTHING_OLD,
    of,
    one,
    several,
)

REDRAWS = (
    one("a branch", "task", models.Branch, 5, 2),
    one("a loop", "task", models.Counted, 4, 2),
    one("questions", "questions", models.Truth, 2, 3),
    one("names", "questions", models.Starred, 3, 5),
    one("columns", "questions", models.Columns, 3, 2),
    one("an example and a default", "questions", models.Optional, 2, 3, y=of(2, 1)),
    one("nothing asked", "unasked", models.Returned, 2, 2),
    one("no answer", "unknown", models.Item, 4, 1),
    one("layers", "leaves", models.Narrow, 2, 2, 4),
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
    one("asked", "assumed", models.Often, 3, 1, expect=ASSUMED),
    several(
        "roots",
        (models.Rows, models.Both),
        ({"x": of(2, 4), "input": of(3, 4)},),
        ((0, 1), (0, 1)),
        expect=NOTHING_OLD,
    ),
    several(
        "asked after an error",
        (models.Chosen, models.Narrow),
        ({"x": of(2, 4)},),
        ((0, 0), (0, 1)),
        expect=ASSUMED,
    ),
    several("changes in place, twice", (models.Turned,), ({"x": of(3, 4)},), ((0, 0), (0, 0))),
    one("kept", "kept", models.Trained, 2, 4, training=True),
)
