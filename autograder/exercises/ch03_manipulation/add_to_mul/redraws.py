"""Hidden cases of `add_to_mul`."""

from __future__ import annotations

import torch

from autograder.authoring.question import T, model_case
from autograder.exercises.ch03_manipulation.add_to_mul.cases import X
from autograder.models import additions

REDRAWS = (
    model_case("torch.add", "function", additions.LaterMul, (T(5), T(5))),
    model_case("the operator", "operator", additions.SumOfSums, (T(5), T(5))),
    model_case(
        "Python's sum, of integers", "operator", additions.PythonSum, (T(4, dtype=torch.int64),) * 2
    ),
    model_case("the method", "method", additions.MethodStays, (T(5), T(5))),
    model_case("an alpha", "alpha", additions.NegativeReluOfSum, (X, X)),
    model_case("in place", "in place", additions.InPlaceAdd, (T(5), T(5))),
    model_case("nested", "rest", additions.NestedAdds, (T(1, 3),)),
)
