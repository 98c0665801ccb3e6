"""Hidden cases of `fold_constants`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch11c_programs.fold_constants import models
from autograder.exercises.ch11c_programs.fold_constants.cases import case

REDRAWS = (
    case("a scaled weight", "task", models.ScaledWeight, args=(T(4, 3),), decomposed=True),
    case("a norm, written out", "task", models.Norm, (T(5, 3),), batches=True),
    case("noise", "stays", models.Noise, decomposed=True),
    case("constant outputs", "outputs", models.ConstantOutputs, args=(T(4, 3),), saved=True),
)
