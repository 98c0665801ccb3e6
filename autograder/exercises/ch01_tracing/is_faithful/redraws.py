"""Hidden cases of `is_faithful`."""

from __future__ import annotations

import torch

from autograder.exercises.ch01_tracing.is_faithful import models
from autograder.exercises.ch01_tracing.is_faithful.cases import (
    CLOSE,
    X,
    faithful,
)

GAPS = torch.tensor([[1.0, float("nan")], [float("nan"), -2.0]])
_AFTER = "Look at how you compare the arguments after the runs. Is it how you compare results?"

REDRAWS = (
    faithful(
        "no gradients",
        "values",
        models.WithoutGradients,
        [X],
        "both return the same values, and whether there are gradients is not asked",
        CLOSE,
    ),
    faithful(
        "NaN in an argument",
        "arguments",
        models.FillsGaps,
        [(GAPS,)],
        "neither changes its argument, and NaN equals NaN here",
        _AFTER,
    ),
)
