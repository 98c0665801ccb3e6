"""Hidden cases of `record_shapes`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch06_interpreter.cases import IMAGE, X, run_case
from autograder.exercises.ch06_interpreter.record_shapes import models
from autograder.models import networks

REDRAWS = (
    run_case("no further arguments", "inputs", models.Unread, X),
    run_case(
        "nothing, and an argument after it", "inputs", models.Defaults, X, T(3), None, T(5, 1)
    ),
    run_case("an empty list", "nested", models.EmptyList, X),
    run_case("values of NumPy", "others", models.Arrays, X),
    run_case("tuples", "nested", models.Parts, T(3, 5)),
    run_case("arguments", "inputs", models.Star, T(1), T(4), T(2, 3, 4)),
    run_case("MobileNetV2", "networks", networks.mobilenet, IMAGE, network=True),
)
