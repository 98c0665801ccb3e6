"""Hidden cases of `fuse_rms_norm`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch12c_normalize.fuse_rms_norm import models
from autograder.exercises.ch12c_normalize.fuse_rms_norm.cases import (
    BW,
    HALVES,
    HW,
    ROWS,
    B,
    W,
    X,
    case,
)

REDRAWS = (
    case("a block", "task", models.Block, T(4, 5), T(5), T(5, 5), T(5), T(5, 5)),
    case("an eps of zero", "task", models.ZeroEps, X, W),
    case("a product", "task", models.Product, T(3, 2, 4)),
    case("one cast", "casts", models.OneCast, HALVES, HW),
    case("a cast for each use", "casts", models.CastForEachUse, B, BW),
    case("a second reader", "weight", models.SecondReader, ROWS, W),
    case("the weight comes later", "weight", models.WeightComesLater, T(4, 5), T(4, 5)),
    case("the mean is read", "others", models.MeanIsRead, ROWS, W),
    case("other dimensions", "others", models.OtherDimensions, T(4, 4)),
    case("two values", "others", models.TwoValues, ROWS, ROWS),
)
