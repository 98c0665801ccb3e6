"""Hidden cases of `decompose`."""

from __future__ import annotations

import torch

from autograder.authoring.question import T
from autograder.exercises.ch05_proxy.decompose import models
from autograder.exercises.ch05_proxy.decompose.cases import SQUARE, case

REDRAWS = (
    case("of a parameter", "task", models.SquaredWeight, SQUARE, (T(3),)),
    case(
        "keywords", "arguments", models.Addcmul, {torch.addcmul: models.addcmul_rule}, (T(5), T(5))
    ),
)
