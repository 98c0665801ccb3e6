"""Hidden cases of `to_hardswish`."""

from __future__ import annotations

import torch

from autograder.authoring.question import model_case
from autograder.exercises.ch04_replace_pattern.to_hardswish import models
from autograder.exercises.ch04_replace_pattern.to_hardswish.cases import XY, X

REDRAWS = (
    model_case("in float32", "task", models.Swish, X, dtype=torch.float32),
    model_case("one of two", "stays", models.OneOfTwo, XY),
)
