"""Hidden cases of `optimize`."""

from __future__ import annotations

from autograder.authoring.question import model_case
from autograder.exercises.ch15_capstone.optimize import models
from autograder.exercises.ch15_capstone.optimize.cases import X, Y

REDRAWS = (
    model_case("branches", "task", models.Branches, Y),
    model_case("a pair for each call", "pairs", models.PairForEachCall, X),
    model_case("other readers", "pairs", models.OtherReaders, X),
    model_case("its size is read", "pairs", models.SizeRead, X),
    model_case("a tied weight", "pairs", models.TiedWeight, X),
    model_case("many names", "pairs", models.ManyNamesTaken, X),
)
