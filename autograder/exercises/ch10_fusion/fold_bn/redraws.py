"""Hidden cases of `fold_bn`."""

from __future__ import annotations

import torch

from autograder.authoring.question import T
from autograder.exercises.ch10_fusion.fold_bn.cases import (
    IMAGE,
    LINE,
    MISFIT,
    NO_STATISTICS,
    SPACE,
    chain,
)

REDRAWS = (
    chain("a bias", "task", 2, (2, 5, 2), IMAGE),
    chain("groups", "settings", 1, (2, 4, 3), LINE, groups=2, padding=1),
    chain("a volume", "kinds", 3, (2, 2, 1), SPACE, bias=False),
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
        "only the convolution trains",
        "caller",
        1,
        (2, 3, 2),
        LINE,
        training=True,
        evaluated=("bn",),
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
    chain(
        "no statistics, in training mode",
        "errors",
        1,
        (2, 3, 2),
        LINE,
        norm={"track_running_stats": False},
        expect=NO_STATISTICS,
        training=True,
    ),
    chain("float32", "dtypes", 1, (2, 4, 3), LINE, dtype=torch.float32),
)
