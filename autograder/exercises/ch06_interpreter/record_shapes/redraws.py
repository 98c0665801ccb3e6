"""Hidden cases of `record_shapes`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch06_interpreter.cases import X, run_case
from autograder.exercises.ch06_interpreter.record_shapes import models

REDRAWS = (
    run_case("no further arguments", "inputs", models.Unread, X),
    run_case(
        "nothing, and an argument after it", "inputs", models.Defaults, X, T(3), None, T(5, 1)
    ),
    run_case("values of NumPy", "others", models.Arrays, X),
)
