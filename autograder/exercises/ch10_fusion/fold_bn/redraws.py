"""Hidden cases of `fold_bn`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch10_fusion.fold_bn.cases import (
    IMAGE,
    MISFIT,
    chain,
)

REDRAWS = (
    chain("a bias", "task", 2, (2, 5, 2), IMAGE),
    chain(
        "only the BatchNorm trains",
        "caller",
        2,
        (2, 3, 1),
        IMAGE,
        training=True,
        evaluated=("conv",),
    ),
    chain(
        "one number, without parameters",
        "errors",
        2,
        (3, 4, 1),
        T(1, 3, 4, 4),
        norm={"features": 1, "affine": False},
        expect=MISFIT,
        training=True,
    ),
)
