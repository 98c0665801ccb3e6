"""Hidden cases of `decompose`."""

from __future__ import annotations

import torch

from autograder.authoring.question import T
from autograder.exercises.ch05_proxy.decompose import models
from autograder.exercises.ch05_proxy.decompose.cases import SQUARE, WIDE, X, case

REDRAWS = (
    case("one call", "task", models.Squares, {torch.square: models.exp_twice_rule}, (T(3),)),
    case("of a parameter", "task", models.SquaredWeight, SQUARE, (T(3),)),
    case(
        "keywords", "arguments", models.Addcmul, {torch.addcmul: models.addcmul_rule}, (T(5), T(5))
    ),
    case(
        "a list", "arguments", models.KeywordStack, {torch.stack: models.stack_rule}, (T(2), T(2))
    ),
    case("a number", "constants", models.MeanInside, {torch.mean: models.zero_rule}, (T(2),)),
    case("once", "once", models.Squares, {torch.square: torch.square}, (X,)),
    case("the rest", "rest", models.Nested, {}, (WIDE,)),
)
