"""Hidden cases of `insert_qdq`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch14_quantization.insert_qdq import models
from autograder.exercises.ch14_quantization.insert_qdq.cases import case

REDRAWS = (
    case("one value", "task", models.TwoReaders, {"cos": 0.03}, (T(4),)),
    case("a scale of one", "task", models.TwoReaders, {"cos": 1.0}),
    case("one of two nodes", "kinds", models.Anchored, {"anchor": 0.3}),
)
