"""Hidden cases of `params_of`."""

from __future__ import annotations

from autograder.exercises.ch11_pytorch2.params_of import models
from autograder.exercises.ch11_pytorch2.params_of.cases import ROW, X, case

REDRAWS = (
    case("capital letters", "task", models.Capitals, X),
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
)
