"""Chapter 06: the exercise about NaN and infinities, `first_nonfinite`."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from autograder.core.exercise import Aspect, Exercise
from autograder.models import T, nonfinite
from autograder.models import networks as networks
from autograder.rubric.interpreter import (
    a_name_or_none,
    the_first_not_finite,
)
from autograder.rules.passes import caller_untouched
from autograder.syllabus import interpreter_hints as hints
from autograder.syllabus.interpreter_cases import CHAPTER, IMAGE, X, run_case
from autograder.syllabus.interpreter_random_nonfinite import NONFINITE

INT = torch.int64

INF, NAN = float("inf"), float("nan")


def tensor(*values: Any, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """A tensor with these values."""
    return torch.tensor(values, dtype=dtype)


def _state(value: float) -> tuple[torch.Tensor, ...]:
    hidden = torch.zeros(1, 2, 4, dtype=torch.float64)
    return torch.zeros(2, 5, 3, dtype=torch.float64), (hidden, hidden + value)


def _spoil_norm(model: nn.Module) -> None:
    # A variance below zero, deep inside: such a layer gives NaN for one channel.
    norms = [m for m in networks.not_in_place(model).modules() if isinstance(m, nn.BatchNorm2d)]
    norms[len(norms) // 2].running_var[1] = -1.0


def _spoil_weight(model: nn.Module) -> None:
    model.head[1].weight[0, 0] = INF


def _spoil_gain(model: nn.Module) -> None:
    model.gain[1] = NAN


def _spoil_mask(model: nn.Module) -> None:
    model.mask[0] = -INF


def _spoil_feed(model: nn.Module) -> None:
    model.feed[1][1].bias[0] = NAN


FIRST_NONFINITE = Exercise(
    name="first_nonfinite",
    chapter=CHAPTER,
    title="Where a NaN begins",
    stars=2,
    minutes=10,
    points=4,
    procedure="analysis",
    aspects=(
        Aspect("task", 2, "the first node that makes a NaN or an infinity of finite values"),
        Aspect("clean", 1, "`None` for a run without one; integers and booleans are finite"),
        Aspect("sources", 1, "an input or a parameter that is not finite, at its own node"),
        Aspect("nested", 1, "values in tuples, lists and dictionaries, and Python floats"),
        Aspect("networks", 1, "real networks"),
    ),
    cases=(
        run_case("an overflow", "task", nonfinite.Overflow, values=lambda: (tensor(1.0, 800.0),)),
        run_case(
            "a logarithm of zero", "task", nonfinite.LogOfZero, values=lambda: (tensor(2.0, -1.0),)
        ),
        run_case(
            "zero by zero",
            "task",
            nonfinite.ZeroByZero,
            values=lambda: (tensor(0.0, 1.0), tensor(0.0, 2.0)),
        ),
        run_case(
            "a value that nobody reads", "task", nonfinite.Unread, values=lambda: (tensor(-1.0),)
        ),
        run_case(
            "two places",
            "task",
            nonfinite.TwoSources,
            values=lambda: (tensor(900.0), tensor(900.0)),
        ),
        run_case(
            "an empty mask",
            "task",
            nonfinite.Reciprocal,
            values=lambda: (torch.ones(2, 3, dtype=torch.float64), tensor(0, 0, 0, dtype=INT)),
        ),
        run_case(
            "half precision", "task", nonfinite.HalfPrecision, values=lambda: (tensor(1.0, 2.0),)
        ),
        run_case("no overflow", "clean", nonfinite.Overflow, T(4)),
        run_case(
            "integers, booleans and nothing",
            "clean",
            nonfinite.AllFinite,
            T(2),
            values=lambda: (tensor(1.5, 2.5, 3.5, 0.5), tensor(0, 1, 1, dtype=INT)),
        ),
        run_case(
            "large numbers",
            "clean",
            nonfinite.Large,
            values=lambda: (tensor(1.5e308, -1e308, 1e308),),
        ),
        run_case(
            "an input that is infinite",
            "sources",
            nonfinite.Overflow,
            values=lambda: (tensor(0.0, INF),),
        ),
        run_case(
            "a parameter with a NaN", "sources", nonfinite.WithParameter, X, prepare=_spoil_gain
        ),
        run_case(
            "a mask of minus infinity", "sources", nonfinite.WithParameter, X, prepare=_spoil_mask
        ),
        run_case(
            "a layer with a bad weight", "sources", nonfinite.Layers, X, prepare=_spoil_weight
        ),
        run_case(
            "the second of a tuple",
            "nested",
            nonfinite.Pieces,
            values=lambda: (tensor((1.0, 2.0)),),
        ),
        run_case("a state within a tuple", "nested", nonfinite.Nested, values=lambda: _state(INF)),
        run_case(
            "a list in a dictionary",
            "nested",
            nonfinite.Gathered,
            values=lambda: ({"parts": [tensor(1.0), tensor(NAN)]},),
        ),
        run_case(
            "a Python float", "nested", nonfinite.AsFloat, values=lambda: (tensor(1e200), 1e200)
        ),
        run_case(
            "a Python float as the input",
            "nested",
            nonfinite.AsFloat,
            values=lambda: (tensor(1.0), NAN),
        ),
        run_case(
            "further arguments",
            "nested",
            nonfinite.Starred,
            values=lambda: (tensor(1.0), tensor(1.0), tensor(-INF)),
        ),
        run_case(
            "MobileNetV2", "networks", networks.mobilenet, IMAGE, prepare=_spoil_norm, network=True
        ),
        run_case("an encoder", "networks", networks.Encoder, T(1, 3, 6), prepare=_spoil_feed),
        run_case("an encoder that is sound", "networks", networks.EncoderLayer, T(1, 3, 8)),
        run_case(
            "redraw: an overflow",
            "task",
            nonfinite.TwoSources,
            values=lambda: (tensor(-1.0, 999.0), tensor(2.0)),
            hidden=True,
        ),
        run_case(
            "redraw: no logarithm of zero",
            "clean",
            nonfinite.LogOfZero,
            values=lambda: (tensor(2.0, 1.0),),
            hidden=True,
        ),
        run_case(
            "redraw: large numbers",
            "clean",
            nonfinite.Large,
            values=lambda: (tensor(3e38, 3e38, dtype=torch.float32),),
            hidden=True,
        ),
        run_case(
            "redraw: a Python float",
            "nested",
            nonfinite.AsFloat,
            values=lambda: (tensor(-INF),),
            hidden=True,
        ),
    ),
    rubric=(
        a_name_or_none.because("names the kind that came back, before any name is compared"),
        caller_untouched,
        the_first_not_finite,
    ),
    hints=hints.FIRST_NONFINITE,
    random=NONFINITE,
)
