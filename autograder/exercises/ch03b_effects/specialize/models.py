"""Functions and modules with parameters to fix, for `specialize`."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101, D103

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import Trial, arguments, fresh


def relu_or_neg(x, flag):
    return torch.relu(x) if flag else -x


def weighted(x, weights=None, scale=2.0):
    if weights is not None:
        x = x * weights
    return x * scale


def repeat(x, n):
    for _ in range(n):
        x = x * 2 + 1
    return x


def capped(x, limit, low=-1.0):
    return x.clamp(min=low, max=limit)


def with_value(x, value):
    return x * 2, value


def many(flag, x, mode, scale=0.5, shift=None, n=1):
    if mode == "twice":
        x = x * 2
    if shift is not None:
        x = x + shift
    return repeat(x, n) * scale if flag else x


def unread(x, unused, flag, spare=None, label="none"):
    return x + 1 if flag else x - 1


def flags(x, flag, flag_1):
    return x + flag_1 if flag else x - flag_1


def flags_in_a_row(x, flag_1, flag, flag_1_1, flag_2=3.0):
    if flag:
        x = x + flag_1
    return x * flag_1_1 - flag_2


def row(x, flag, flag_1, flag_2):
    return x + flag_1 + 10 * flag_2 if flag else x


def matrix_only(x, flag):
    torch._assert(x.dim() == 2, "x must be a matrix")
    return x.t() if flag else x


def told(x, flag=True):
    torch._assert(x.dim() == 2, "flag needs a matrix")
    return x if flag else -x


def doubled(x, flag=True):
    y = x.sin()
    y.mul_(2)  # no node reads this value
    return y if flag else -y


def kept(x, flag=True, keep=False):
    return (x if flag else -x) * keep


def bounded(x, flag, limit=float("inf")):
    return x.clamp(max=limit) if flag else x


def by_keyword(x, scale=2.0, *, flag=False, shift=None):
    x = torch.relu(x) if flag else x
    return x * scale if shift is None else x * scale + shift


def with_local(x, scale=2.0):
    hidden = x * scale
    return hidden + 1


def weighted_within() -> Callable[..., Any]:
    """A function that reads a tensor from the enclosing function."""
    weight = torch.tensor([2.0, -1.0, 0.5], dtype=torch.float64)

    def weighted(x, flag, shift=1.0):
        return x * weight + shift if flag else x

    return weighted


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        self.bias = nn.Parameter(torch.rand(3))

    def forward(self, x, act=True, scale=1.0):
        x = self.inner(x) if act else self.inner[0](x)
        return x * scale + self.bias


class Shifted(nn.Module):
    def forward(self, x, scale, shift=1.0):
        return x * scale + shift


def shifted() -> fx.GraphModule:
    """A model that is already a graph module."""
    return fx.symbolic_trace(Shifted())


class ReluIfFlag(nn.Module):
    def forward(self, x, flag=False):
        return x.relu() if flag else x


class NegInTraining(nn.Module):
    def forward(self, x, flag=False):
        y = x.neg() if self.training else x
        return y.sin() if flag else y


class Smooth(nn.Module):
    def forward(self, x, rounds, scale=0.5):
        y = x.clone()
        for _ in range(rounds):
            torch.neg_(y)
            y.mul_(scale)
        return y


# ------------------------------------------------------------------ trials


@dataclass(frozen=True, eq=False)
class Fixing:
    """Builds a trial: a function or module, the values to fix, inputs for the result.

    Attributes:
        subject: the function to pass to the answer; or a class or `shifted`, which build a module;
            or `weighted_within`, which builds a function.
        constants: the values to fix.
        inputs: argument tuples for the result, tensors as `T`.
        training: whether the module is in training mode.
    """

    subject: Callable[..., Any]
    constants: dict[str, Any]
    inputs: tuple[Sequence[Any], ...] = ()
    training: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        makes_a_model = isinstance(self.subject, type) or self.subject is shifted
        subject = self.subject
        if makes_a_model:
            subject = fresh(self.subject, seed, training=self.training)
        elif subject is weighted_within:
            subject = subject()
        generator = torch.Generator().manual_seed(seed + 1)
        return Trial(
            args=(subject,),
            kwargs=dict(self.constants),
            model=subject if isinstance(subject, nn.Module) else None,
            inputs=tuple(arguments(specs, generator, torch.float64) for specs in self.inputs),
        )


# ------------------------------------------------------------------ random models

# Control flow reads these parameters during tracing, so they are always fixed.
DECIDING: dict[str, tuple[Any, ...]] = {
    "flag": (True, False, 2, 0),
    "mode": (None, "tanh", "it's", "sin"),
}
NUMBERS = (2.0, 3, math.inf, 0, True, 1, -0.5, 2)
NO_PARAMETER = ("flg", "a", "flag_3", "b")  # `a` and `b` are local variables of `forward`


def wrong_name(choice: int) -> str | None:
    """For some choices, a name to fix that is not a parameter."""
    return NO_PARAMETER[choice // 8 % 4] if choice % 8 == 5 else None


def with_constants(trial: Trial, choice: int) -> Trial:
    """The trial with values for the fixed parameters, and inputs for the others."""
    random = Random(choice)
    constants, given, more = {}, [], []
    (x, *_), *_ = trial.inputs
    for parameter in list(inspect.signature(trial.model.forward).parameters.values())[1:]:
        name = parameter.name
        if name in DECIDING:
            constants[name] = random.choice(DECIDING[name]) if choice else DECIDING[name][0]
        elif choice % 4 and random.random() < 0.6:
            constants[name] = random.choice(NUMBERS)
        elif parameter.default is parameter.empty:
            given.append(0.25)
        else:
            more.append(-1.5 - len(more))
    wrong = wrong_name(choice)
    if wrong:
        constants[wrong] = 1.0
    return replace(
        trial,
        kwargs=constants,
        inputs=((x, *given), (x, *given, *more)) if more else ((x, *given),),
    )
