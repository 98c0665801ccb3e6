"""Hidden cases of `fuse_rms_norm`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch12c_normalize.fuse_rms_norm import models
from autograder.exercises.ch12c_normalize.fuse_rms_norm.cases import (
    HALVES,
    HW,
    W,
    X,
    case,
)

REDRAWS = (
    case("a block", "task", models.Block, T(4, 5), T(5), T(5, 5), T(5), T(5, 5)),
    case("an eps of zero", "task", models.ZeroEps, X, W),
    case("one cast", "casts", models.OneCast, HALVES, HW),
)
