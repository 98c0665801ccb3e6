"""Hidden cases of `remove_dropout`."""

from __future__ import annotations

from autograder.authoring.question import T, model_case
from autograder.exercises.ch03_manipulation.remove_dropout import models
from autograder.exercises.ch03_manipulation.remove_dropout.cases import WIDE

REDRAWS = (
    model_case("a module", "module", models.DropoutInPlace, (T(1, 3),)),
    model_case("a weight", "places", models.DroppedWeight, (WIDE,), training=True),
)
