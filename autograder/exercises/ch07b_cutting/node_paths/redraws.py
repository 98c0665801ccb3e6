"""Hidden cases of `node_paths`."""

from __future__ import annotations

from autograder.exercises.ch07b_cutting.node_paths import models
from autograder.exercises.ch07b_cutting.node_paths.cases import path_case

REDRAWS = (
    path_case("nested", "task", models.Deep),
    path_case("calls", "calls", models.Shared, after=(models.Shared,)),
    path_case("a buffer", "tensors", models.Positions, after=(models.Encoded,)),
    path_case("a model that has changed", "state", models.OneChild, change=models.exchange_gate),
)
