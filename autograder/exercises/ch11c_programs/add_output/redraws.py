"""Hidden cases of `add_output`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch11c_programs.add_output import models
from autograder.exercises.ch11c_programs.add_output.cases import ROW, X, case, refused

REDRAWS = (
    refused("an operator", models.Small, (X,), "aten.relu.default"),
    refused("a value in a branch", models.Condition, (X,), "sin"),
    case("a size comes back", "structure", models.SizeComesBack, (X,), "sin", batches=True),
    case("a value", "task", models.Small, (T(4, 3),), "relu"),
    case(
        "the new value of an input", "mutated", models.ChangesBoth, (ROW, X), "mul", decomposed=True
    ),
)
