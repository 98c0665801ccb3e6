"""Hidden cases of `inline`."""

from __future__ import annotations

from autograder.authoring.question import InEvaluation, T
from autograder.exercises.ch05b_programs.inline import models
from autograder.exercises.ch05b_programs.inline.cases import WIDE, X, call_case, missing_case
from autograder.models import networks

REDRAWS = (
    call_case("one call", "task", models.AsOutput, "scale", (T(1, 3),)),
    call_case("names", "names", models.Stages, "stages.0", (X,)),
    call_case("calls", "calls", models.BlockTwice, "block.act", (X, X)),
    call_case("arguments", "arguments", models.Keywords, "mix", (T(3), X)),
    call_case("a parameter is given", "arguments", models.ParameterGiven, "mix", (X,)),
    call_case("a new tensor", "rest", models.Counted, "part", (X,)),
    call_case(
        "in another mode",
        "rest",
        models.Moody,
        "part",
        (X,),
        training=True,
        prepare=InEvaluation("part"),
    ),
    call_case("tuples", "tuples", models.Swapped, "swap", (WIDE, WIDE)),
    call_case("a tuple of one", "tuples", models.OneInATuple, "single", (X,)),
    missing_case("no such name", models.Stages, "stages.2"),
    missing_case("a parameter", models.Namesakes, "block.first.weight"),
    call_case("an encoder", "rest", networks.Encoder, "feed.0", (T(3, 6),)),
)
