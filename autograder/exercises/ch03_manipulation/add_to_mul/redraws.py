"""Hidden cases of `add_to_mul`."""

from __future__ import annotations

import torch

from autograder.authoring.question import T, model_case
from autograder.models import additions

REDRAWS = (
    model_case("torch.add", "function", additions.LaterMul, (T(5), T(5))),
    model_case(
        "Python's sum, of integers", "operator", additions.PythonSum, (T(4, dtype=torch.int64),) * 2
    ),
)
