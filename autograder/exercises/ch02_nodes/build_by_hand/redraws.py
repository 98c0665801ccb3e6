"""Hidden cases of `build_by_hand`."""

from __future__ import annotations

import torch

from autograder.authoring.question import T
from autograder.exercises.ch02_nodes.build_by_hand.cases import linear_case

REDRAWS = (
    linear_case("another size", "task", (5, 2), T(2), (T(4, 5),), (T(3, 2, 5), T(2))),
    linear_case(
        "a shift of another dtype",
        "inputs",
        (3, 2),
        T(2),
        (T(4, 3), 0.5),
        dtype=torch.float32,
        shift_dtype=torch.float64,
    ),
    linear_case("one of two modules", "task", (3, 2), T(2), (T(4, 3),), another=True),
)
