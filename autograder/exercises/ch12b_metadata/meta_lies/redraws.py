"""Hidden cases of `meta_lies`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch12b_metadata.meta_lies import models
from autograder.exercises.ch12b_metadata.meta_lies.cases import (
    DOUBLE,
    HALF,
    INT,
    TALL,
    X,
    case,
    recorded,
)
from autograder.exercises.ch12b_metadata.meta_lies.models import Shape, Size

REDRAWS = (
    case("the shape", "task", models.Chain, TALL, tanh=Shape(4)),
    case("the dtype", "task", models.Kinds, X, gt=INT, mul=Shape()),
    recorded("no inputs", "attributes", models.OfNoInputs, tanh=DOUBLE),
    case("an assertion", "others", models.Asserted, X, relu=HALF),
    case(
        "parts of a symbol",
        "symbols",
        models.Halves,
        T(4, 6),
        ((0, 1),),
        relu=Shape(Size("x", 1), Size("x", 0)),
    ),
)
