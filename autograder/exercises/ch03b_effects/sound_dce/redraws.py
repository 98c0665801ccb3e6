"""Hidden cases of `sound_dce`."""

from __future__ import annotations

from autograder.authoring.question import T, model_case
from autograder.exercises.ch03b_effects.sound_dce import models
from autograder.exercises.ch03b_effects.sound_dce.cases import WIDE, X
from autograder.exercises.ch03b_effects.sound_dce.models import switch_first_norm

REDRAWS = (
    model_case("a dead chain", "dead", models.DeadBranch, (T(2, 2, 2),)),
    model_case("names alike", "modules", models.NamesAlike, (WIDE,)),
    model_case("nothing returned", "rest", models.NothingReturned, (X, X)),
    model_case("through a slice", "rest", models.ThroughASlice, (X, X)),
    model_case(
        "a function in place that is not PyTorch's",
        "in place",
        models.OwnInPlace,
        (X,),
        functions={"halve_": models.halve_},
    ),
    model_case(
        "norms", "norms", models.Norm2d, (T(2, 2, 2, 2),), training=True, prepare=switch_first_norm
    ),
)
