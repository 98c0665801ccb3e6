"""Hidden cases of `is_faithful`."""

from __future__ import annotations

import torch

from autograder.authoring.question import T
from autograder.exercises.ch01_tracing.is_faithful import models
from autograder.exercises.ch01_tracing.is_faithful.cases import (
    ARGS,
    BUFFER_ADVICE,
    CLOSE,
    COMPARE,
    ERROR_ADVICE,
    ONE_COPY,
    ONES,
    SEED,
    TRACING,
    X,
    faithful,
)

GAPS = torch.tensor([[1.0, float("nan")], [float("nan"), -2.0]])
_AFTER = "Look at how you compare the arguments after the runs. Is it how you compare results?"

REDRAWS = (
    faithful(
        "one item more",
        "values",
        models.OneMore,
        [(T(1),), (T(5),)],
        "the trace returns one item more",
        COMPARE,
    ),
    faithful(
        "no gradients",
        "values",
        models.WithoutGradients,
        [X],
        "both return the same values, and whether there are gradients is not asked",
        CLOSE,
    ),
    faithful(
        "a frozen number",
        "noise",
        models.FrozenShift,
        [(T(2),)],
        "the shift of the trace was drawn while tracing",
        SEED,
    ),
    faithful(
        "one tensor given twice",
        "arguments",
        models.KnowsItself,
        [(T(2),), (T(5),)],
        "the model sees that both arguments are one tensor",
        ONE_COPY,
        tie=models.given_twice,
    ),
    faithful(
        "`+=` on integers",
        "arguments",
        models.AddsOne,
        [(T(2, dtype=torch.int64),)],
        "only the model changes its argument",
        ARGS,
    ),
    faithful(
        "NaN in an argument",
        "arguments",
        models.FillsGaps,
        [(GAPS,)],
        "neither changes its argument, and NaN equals NaN here",
        _AFTER,
    ),
    faithful(
        "cleared while it is traced",
        "buffers",
        models.ClearsItsShift,
        [(T(2, 3),)],
        "the model clears its shift, and the trace adds the shift that was there",
        TRACING,
    ),
    faithful(
        "statistics",
        "buffers",
        models.NormedAndMasked,
        [(T(5, 3), T(3))],
        "there is a mask",
        BUFFER_ADVICE,
        training=True,
    ),
    faithful("the model raises", "errors", models.NeedsThree, [(T(4),)], raises="ValueError"),
    faithful(
        "a dictionary while tracing",
        "errors",
        models.ScaleByDepth,
        [X],
        "this model raises a `KeyError` while it is traced",
        ERROR_ADVICE,
    ),
    faithful(
        "a key that only the trace has",
        "errors",
        models.FirstOrSecond,
        [({"first": ONES},)],
        "the trace raises a `KeyError`",
        ERROR_ADVICE,
    ),
)
