"""Hidden cases of `lower`."""

from __future__ import annotations

from autograder.exercises.ch13b_lowering.lower import models
from autograder.exercises.ch13b_lowering.lower.cases import ROW, X, divided

REDRAWS = (
    divided("a row", "task", models.Chain, ("cos", "tanh"), ("exp",)),
    divided(
        "a number that is zero",
        "values",
        models.UnequalInputs,
        ("mul", "minimum"),
        inputs=((ROW, X, None, 0.0), (ROW, X, None, 3.0)),
    ),
)
