"""Hidden cases of `inline`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch05b_programs.inline import models
from autograder.exercises.ch05b_programs.inline.cases import X, call_case, missing_case

REDRAWS = (
    call_case("one call", "task", models.AsOutput, "scale", (T(1, 3),)),
    call_case("a parameter is given", "arguments", models.ParameterGiven, "mix", (X,)),
    call_case("a new tensor", "rest", models.Counted, "part", (X,)),
    call_case("a tuple of one", "tuples", models.OneInATuple, "single", (X,)),
    missing_case("a parameter", models.Namesakes, "block.first.weight"),
)
