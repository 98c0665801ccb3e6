"""Graphs for `fuse_rms_norm`: spellings of an RMS norm, and similar computations."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import fx, nn

import autograder.given  # noqa: F401 - its import registers the operator
from autograder.authoring.models import T, Trial, arguments, fresh

HALF, BFLOAT, FLOAT = torch.float16, torch.bfloat16, torch.float32


# ------------------------------------------------------------------ float32


class Plain(nn.Module):
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class Product(nn.Module):
    """The square is a product, the dimension is positive, the factors are swapped."""

    def forward(self, x):
        y = torch.tanh(x)
        return torch.rsqrt((y * y).mean(2, True) + 1e-5) * y - 1


class Block(nn.Module):
    """Two norms, each before a matrix; the second one reads the first one's output."""

    def forward(self, x, first, up, second, down):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * first
        x = x + torch.relu(y @ up)
        y = second * (torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * x)
        return x + y @ down


class ZeroEps(nn.Module):
    """The eps is zero; a norm with a different eps follows."""

    def forward(self, x, weight):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 0.0) * weight
        return y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6)


class OneIsThere(nn.Module):
    """One norm already is a call of the operator."""

    def forward(self, x, weight):
        y = torch.ops.fxcourse.rms_norm.default(x, weight, 1e-6)
        return y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6), y


# ------------------------------------------------------------------ half and bfloat16


class OneCast(nn.Module):
    """Half or bfloat16, cast once."""

    def forward(self, x, weight):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return weight * y.to(x.dtype)


class CastForEachUse(nn.Module):
    def forward(self, x, weight):
        scale = torch.rsqrt((x.float() * x.float()).mean(-1, keepdim=True) + 1e-5)
        return (scale * x.float()).type_as(x) * weight


class NoWeight(nn.Module):
    def forward(self, x):
        y = x.to(torch.float32)
        return (torch.rsqrt((y * y).mean(-1, True) + 1e-6) * x.float()).to(x.dtype)


class WeightBeforeCast(nn.Module):
    """The weight comes before the cast back."""

    def forward(self, x, weight):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (y * (1.0 + weight.float())).type_as(x)


class StaysFloat(nn.Module):
    """The result is not cast back."""

    def forward(self, x):
        y = x.float()
        return torch.exp(y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6))


# ------------------------------------------------------------------ the weight


class NoWeights(nn.Module):
    """Factors with another shape or dtype, and a number."""

    def forward(self, x, rows, half, one, matrix):
        def norm(eps):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

        return norm(1e-6) * rows, half * norm(1e-5), norm(1e-4) * one, matrix * norm(1e-3), (
            norm(1e-2) * 2.0
        )  # fmt: skip


class OneRow(nn.Module):
    """A factor with a weight's length, but two dimensions."""

    def forward(self, x, row):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * row


class SecondReader(nn.Module):
    """The norm has a second reader besides the weight."""

    def forward(self, x, weight):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return y * weight, y


class WeightComesLater(nn.Module):
    """The factor is computed after the norm."""

    def forward(self, x, y):
        norm = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return norm * torch.exp(y).sum(0)


class TimesItself(nn.Module):
    """A product of the norm with itself."""

    def forward(self, x):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return y * y


# ------------------------------------------------------------------ not fused


class SquareIsRead(nn.Module):
    def forward(self, x):
        square = x.pow(2)
        return x * torch.rsqrt(square.mean(-1, keepdim=True) + 1e-6) + square


class MeanIsRead(nn.Module):
    def forward(self, x, weight):
        mean = (x * x).mean(-1, keepdim=True)
        return x * torch.rsqrt(mean + 1e-6) * weight, mean


class SumIsRead(nn.Module):
    def forward(self, x):
        total = x.pow(2).mean(-1, keepdim=True) + 1e-6
        return x * torch.rsqrt(total), {"total": torch.log(total)}


class RootIsRead(nn.Module):
    def forward(self, x, y):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return torch.cat([x * scale, scale], -1), y * scale


class OtherPowers(nn.Module):
    def forward(self, x):
        y = x.abs()
        a = y * torch.rsqrt(y.pow(3).mean(-1, keepdim=True) + 1e-6)
        b = y * torch.rsqrt(y.mean(-1, keepdim=True) + 1e-6)
        return a, b, y * torch.rsqrt(y.pow(0.5).mean(-1, keepdim=True) + 1e-6)


class OtherSteps(nn.Module):
    """Multiplies instead of adding, and adds instead of squaring."""

    def forward(self, x):
        y = x.abs()
        a = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) * 0.5)
        return a, y * torch.rsqrt((y + y).mean(-1, keepdim=True) + 1e-6)


class OtherDimensions(nn.Module):
    """`x` is square, so all of these dimensions fit."""

    def forward(self, x):
        a = x * torch.rsqrt(x.pow(2).mean(0, keepdim=True) + 1e-6)
        b = x * torch.rsqrt(x.pow(2).mean((0, 1), keepdim=True) + 1e-6)
        c = x * torch.rsqrt(x.pow(2).mean(-1) + 1e-6)
        d = x * torch.rsqrt(x.pow(2).mean() + 1e-6)
        return a, b, c, d, x * torch.rsqrt(x.pow(2).mean(-2, keepdim=True) + 1e-6)


class TwoValues(nn.Module):
    def forward(self, x, y):
        a = x * torch.rsqrt((x * y).abs().mean(-1, keepdim=True) + 1e-6)
        b = x * torch.rsqrt((x * (x + 1)).mean(-1, keepdim=True) + 9.0)
        return a, b, y * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class EpsIsATensor(nn.Module):
    def forward(self, x, eps):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps.abs())


class Lengths(nn.Module):
    """Without a mean: the sum and the maximum of the squares."""

    def forward(self, x):
        a = x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-6)
        return a, x * torch.rsqrt(x.pow(2).amax(-1, keepdim=True) + 1e-6)


# ------------------------------------------------------------------ from a class to a graph


@dataclass(frozen=True)
class Recorded:
    """Records the ATen graph of a model.

    Attributes:
        inputs: example inputs for recording, tensors as `T`.
    """

    inputs: tuple[T, ...]

    def __call__(self, model: nn.Module) -> fx.GraphModule:
        """Record the graph with `make_fx` in fake mode."""
        from torch.fx.experimental.proxy_tensor import make_fx

        example = arguments(self.inputs, torch.Generator(), FLOAT)
        with torch.no_grad():
            return make_fx(_function_of(model), tracing_mode="fake")(*example)


def _function_of(model: nn.Module) -> Callable[..., Any]:
    """A plain function with a model's parameter names; `make_fx` loses those of other callables."""
    names = ", ".join(inspect.signature(model.forward).parameters)
    made: Callable[..., Any] = eval(f"lambda {names}: model({names})", {"model": model})
    return made


@dataclass(frozen=True)
class Graphs:
    """Builds the objects of a case of ``fuse_rms_norm(gm)``.

    Attributes:
        make: builds the model.
        inputs: inputs for recording and for the run.
    """

    make: Callable[[], nn.Module]
    inputs: tuple[T, ...]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        inputs = arguments(self.inputs, torch.Generator().manual_seed(seed + 1), FLOAT)
        return Trial(
            args=(copy.deepcopy(_graph_of(self.make, self.inputs)),),
            model=fresh(self.make, dtype=FLOAT),
            inputs=(inputs,),
        )


@lru_cache(maxsize=64)
def _graph_of(make: Callable[[], nn.Module], inputs: tuple[T, ...]) -> fx.GraphModule:
    """The graph of a class; callers must copy it."""
    return Recorded(inputs)(make())


def of_random_model(trial: Trial, choice: int) -> Trial:
    """A trial with the recorded graph of a random model."""
    assert trial.model is not None
    specs = tuple(T(*x.shape, dtype=x.dtype) for x in trial.inputs[0])
    gm = Recorded(specs)(copy.deepcopy(trial.model))
    return Trial(args=(gm,), model=trial.model, inputs=trial.inputs[:1])


def as_recorded(inputs: tuple[Any, ...]) -> Recorded:
    """The recorder for a random model's graph, from the specs of its inputs."""
    return Recorded(tuple(spec for spec in inputs if isinstance(spec, T)))
