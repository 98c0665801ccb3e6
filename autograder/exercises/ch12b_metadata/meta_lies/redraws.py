"""Hidden cases of `meta_lies`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch12b_metadata.meta_lies import models
from autograder.exercises.ch12b_metadata.meta_lies.cases import (
    BOTH,
    DOUBLE,
    HALF,
    INT,
    LONG,
    SQUARES,
    SYMBOLS,
    TALL,
    X,
    case,
    recorded,
)
from autograder.exercises.ch12b_metadata.meta_lies.models import Part, Shape, Size, no_val

REDRAWS = (
    case("the shape", "task", models.Chain, TALL, tanh=Shape(4)),
    case("the dtype", "task", models.Kinds, X, gt=INT, mul=Shape()),
    case("in the middle", "local", models.Chain, TALL, neg=DOUBLE),
    case("cannot run", "local", models.Sums, BOTH, exp=Shape(4, 4)),
    case("several results", "several", models.Several, LONG, split=Part(0, DOUBLE)),
    case("a weight", "attributes", models.Products, X, layer_weight=Shape(4, 2)),
    recorded("no inputs", "attributes", models.OfNoInputs, tanh=DOUBLE),
    case("an assertion", "others", models.Asserted, X, relu=HALF),
    case("without val", "missing", models.Sums, BOTH, add=no_val),
    case(
        "symbols",
        "symbols",
        models.Symbols,
        SQUARES,
        SYMBOLS,
        relu=Shape(Size("x", 1), Size("x", 1)),
    ),
    case(
        "parts of a symbol",
        "symbols",
        models.Halves,
        T(4, 6),
        ((0, 1),),
        relu=Shape(Size("x", 1), Size("x", 0)),
    ),
)
