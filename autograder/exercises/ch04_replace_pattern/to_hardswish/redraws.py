"""Hidden cases of `to_hardswish`."""

from __future__ import annotations

import torch

from autograder.authoring.question import T, Traced, model_case
from autograder.exercises.ch04_replace_pattern.to_hardswish import models
from autograder.exercises.ch04_replace_pattern.to_hardswish.cases import XY, X

REDRAWS = (
    model_case("in float32", "task", models.Swish, X, dtype=torch.float32),
    model_case("one of two", "stays", models.OneOfTwo, XY),
    model_case("a layer called relu6", "stays", models.NamedRelu6, X),
    model_case("four of them", "task", models.SwishOfLayer, (T(4, 3),), dtype=torch.float32),
    model_case("floats in a graph module", "forms", Traced(models.SwishFloats), (T(3),)),
)
