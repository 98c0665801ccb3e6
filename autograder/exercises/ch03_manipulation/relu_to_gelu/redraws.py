"""Hidden cases of `relu_to_gelu`."""

from __future__ import annotations

from autograder.authoring.question import T, model_case
from autograder.exercises.ch03_manipulation.relu_to_gelu import models
from autograder.exercises.ch03_manipulation.relu_to_gelu.cases import WIDE, X

REDRAWS = (
    model_case("functions", "function", models.FunctionalRelu, (T(7),)),
    model_case("one of two equal calls is changed in place", "rest", models.ChangedInBetween, (X,)),
    model_case("the method", "method", models.MethodRelu, (T(1, 4),)),
    model_case("a module", "module", models.TrainedBlock, (WIDE,)),
    model_case("shared", "shared", models.SharedRelu, (T(1, 3),)),
    model_case("a leaf", "shared", models.OwnedByALeaf, (T(2, 3, 4),)),
    model_case("others", "others", models.OtherModules, (T(1, 3),)),
)
