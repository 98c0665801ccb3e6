"""Hidden cases of `params_of`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch11_pytorch2.params_of import models
from autograder.exercises.ch11_pytorch2.params_of.cases import ROW, X, case

REDRAWS = (
    case("a layer", "task", models.Scale, T(5, 3)),
    case("capital letters", "task", models.Capitals, X),
    case("constants", "buffers", models.Constants, T(1, 3)),
    case("numbers", "inputs", models.Numbers, X, 2, 0.5, False, "x", None),
    case("a number that varies", "inputs", models.Times, X, 3, varying=(1,)),
    case(
        "named as buffers are, one by keyword",
        "inputs",
        models.NamedAsMasks,
        ROW,
        ROW,
        keywords=(("x", X),),
    ),
    case("a graph in the graph", "inputs", models.Centred, X),
    case("names that end alike", "mutated", models.SameEnds, ROW, ROW, decomposed=True),
    case("mutated values come back", "mutated", models.CountComesBack, ROW, X, decomposed=True),
    case("training", "mutated", models.Stepwise, X, ROW, training=True, decomposed=True),
)
