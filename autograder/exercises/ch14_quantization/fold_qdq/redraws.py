"""Hidden cases of `fold_qdq`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch14_quantization.fold_qdq import models
from autograder.exercises.ch14_quantization.fold_qdq.cases import case

REDRAWS = (
    case("pairs", "task", models.Often, (T(5, 2),)),
    case("1.0 and 1", "scales", models.WholeScales),
)
