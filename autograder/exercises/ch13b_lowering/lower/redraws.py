"""Hidden cases of `lower`."""

from __future__ import annotations

from autograder.exercises.ch13b_lowering.lower import models
from autograder.exercises.ch13b_lowering.lower.cases import ROW, TWO, X, divided, refused

REDRAWS = (
    divided("a row", "task", models.Chain, ("cos", "tanh"), ("exp",)),
    divided(
        "values",
        "values",
        models.SeveralOut,
        ("sin", "add", "mul", "cos"),
        ("exp", "tanh"),
        inputs=TWO,
    ),
    divided(
        "a number that is zero",
        "values",
        models.UnequalInputs,
        ("mul", "minimum"),
        inputs=((ROW, X, None, 0.0), (ROW, X, None, 3.0)),
    ),
    divided(
        "order",
        "order",
        models.Crossed,
        ("sin", "cos", "exp"),
        ("minimum", "tanh", "cos_1"),
        inputs=TWO,
    ),
    divided(
        "parameters",
        "attributes",
        models.Scales,
        ("sin", "add", "mul"),
        ("cos", "inner_0", "mul_1"),
    ),
    divided("layers", "rest", models.Layers, ("block_0", "block_1"), ("layer_1", "gelu", "add")),
    refused(
        "a circle",
        models.Circle,
        ("sin", "maximum", "tanh"),
        ("cos", "minimum", "sub"),
        inputs=((X, X, X),),
    ),
)
