"""Hidden cases of `relu_to_gelu`."""

from __future__ import annotations

from autograder.authoring.question import T, model_case
from autograder.exercises.ch03_manipulation.relu_to_gelu import models
from autograder.exercises.ch03_manipulation.relu_to_gelu.cases import X

REDRAWS = (
    model_case("functions", "function", models.FunctionalRelu, (T(7),)),
    model_case("one of two equal calls is changed in place", "rest", models.ChangedInBetween, (X,)),
)
