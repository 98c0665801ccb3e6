"""Hidden cases of `insert_qdq`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch14_quantization.insert_qdq import models
from autograder.exercises.ch14_quantization.insert_qdq.cases import case

REDRAWS = (
    case("one value", "task", models.TwoReaders, {"cos": 0.03}, (T(4),)),
    case("a scale of one", "task", models.TwoReaders, {"cos": 1.0}),
    case("readers", "readers", models.Returned, {"exp": 0.02, "sin": 0.05}),
    case("one of two nodes", "kinds", models.Anchored, {"anchor": 0.3}),
    case("names", "rest", models.odd_names, {"dequantize_1": 0.04}),
)
