"""Hidden cases of `first_nonfinite`."""

from __future__ import annotations

import torch

from autograder.exercises.ch06_interpreter.cases import X, run_case
from autograder.exercises.ch06_interpreter.first_nonfinite import models
from autograder.exercises.ch06_interpreter.first_nonfinite.models import INF
from autograder.models.running import Exactly

REDRAWS = (
    run_case("an overflow", "task", models.HalfPrecision, Exactly(1.0, 2.0)),
    run_case(
        "an infinite input, in bfloat16",
        "sources",
        models.Overflow,
        Exactly(0.0, INF, dtype=torch.bfloat16),
    ),
    run_case("a text", "clean", models.WithText, X),
    run_case("a large integer", "clean", models.LargeInteger, X),
)
