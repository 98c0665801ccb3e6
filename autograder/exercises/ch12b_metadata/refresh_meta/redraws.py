"""Hidden cases of `refresh_meta`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch12b_metadata.refresh_meta import models
from autograder.exercises.ch12b_metadata.refresh_meta.cases import X, case

REDRAWS = (
    case("a layer", "task", models.Joined, T(5, 3)),
    case(
        "parts of an input", "then", models.PartsLengthened, X, X, X, prepare=models.in_a_dictionary
    ),
    case("called twice", "then", models.FirstLengthened, X, X, times=2),
    case("one tensor, lengthened", "then", models.FirstLengthened, X, prepare=models.twice),
    case("a layer with a hook", "module", models.Hooked, X),
    case("a layer counts", "nothing", models.a_layer_that_counts, X),
)
