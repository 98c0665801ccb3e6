"""Hidden cases of `Calibrator`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch14_quantization.Calibrator import models
from autograder.exercises.ch14_quantization.Calibrator.cases import LARGE, NOTHING, X, case

REDRAWS = (
    case("one run", "task", models.Below, (T(7),)),
    case("zeros and nothing in the end", "zeros", models.Chain, (LARGE,), (NOTHING,), (T(0),)),
    case("a buffer that changes", "computed", models.put_back, (X,), (T(5, 3),)),
)
