"""Hidden cases of `export_ops`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch11_pytorch2.export_ops import models
from autograder.exercises.ch11_pytorch2.export_ops.cases import X, case

REDRAWS = (
    case("a size that is read", "task", models.Flat, T(4, 3, 2)),
    case("a constant, and a repeat", "others", models.Constant, X),
    case("branches", "branches", models.WithoutGradients, T(4, 3)),
)
