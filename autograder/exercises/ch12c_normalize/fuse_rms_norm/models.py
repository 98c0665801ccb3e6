"""Spellings of an RMS norm, and what only looks like one: for `fuse_rms_norm`."""

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
    """The square is a product, the dimension is a number, the factors are the other way round."""

    def forward(self, x):
        y = torch.tanh(x)
        return torch.rsqrt((y * y).mean(2, True) + 1e-5) * y - 1


class Weighted(nn.Module):
    def forward(self, x, weight):
        return weight * (x * torch.rsqrt((x**2).mean(dim=-1, keepdim=True) + 0.01))


class WeightBehind(nn.Module):
    def forward(self, weight, x):
        return torch.sin(torch.rsqrt(torch.mean(x.square(), -1, True) + 1e-6) * x * weight)


class Block(nn.Module):
    """Two norms, each before a matrix; the second one reads what the first one made."""

    def forward(self, x, first, up, second, down):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * first
        x = x + torch.relu(y @ up)
        y = second * (torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * x)
        return x + y @ down


class ZeroEps(nn.Module):
    """The eps is zero; a norm with another one is after it."""

    def forward(self, x, weight):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 0.0) * weight
        return y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6)


class NoNorm(nn.Module):
    def forward(self, x, weight):
        return torch.sigmoid(x) * weight + x.mean(-1, keepdim=True)


class OneIsThere(nn.Module):
    """One norm is a call of the operator already."""

    def forward(self, x, weight):
        y = torch.ops.fxcourse.rms_norm.default(x, weight, 1e-6)
        return y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6), y


class OneDimension(nn.Module):
    """`x` has one dimension, and its number is 0."""

    def forward(self, x, weight):
        return x * torch.rsqrt(x.pow(2).mean(0, keepdim=True) + 1e-6) * weight


class LayerNorm(nn.Module):
    """A layer norm, written out: there is an RMS norm in it."""

    def forward(self, x, weight, bias):
        y = x - x.mean(-1, keepdim=True)
        return y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5) * weight + bias


class SameTwice(nn.Module):
    """Each of two norms of one value has all of its steps for itself."""

    def forward(self, x, weight):
        left = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        right = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight
        return left - right, weight


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


class CastIsRead(nn.Module):
    """Somebody else reads the float32 value of `x`."""

    def forward(self, x, weight):
        y = x.float()
        norm = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return norm.to(x.dtype) * weight, y.sum(-1)


class CastBehind(nn.Module):
    """`x` is float32, and only the result of the norm is cast."""

    def forward(self, x, weight):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return y.bfloat16() * weight


class WeightBeforeCast(nn.Module):
    """The weight comes before the cast back."""

    def forward(self, x, weight):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (y * (1.0 + weight.float())).type_as(x)


class StaysFloat(nn.Module):
    """Nothing is cast back."""

    def forward(self, x):
        y = x.float()
        return torch.exp(y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6))


class OtherCast(nn.Module):
    """The result has neither the dtype of `x` nor float32."""

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6)).half()


# ------------------------------------------------------------------ the weight


class NoWeights(nn.Module):
    """Factors of another shape or dtype, and a number."""

    def forward(self, x, rows, half, one, matrix):
        def norm(eps):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

        return norm(1e-6) * rows, half * norm(1e-5), norm(1e-4) * one, matrix * norm(1e-3), (
            norm(1e-2) * 2.0
        )  # fmt: skip


class OneRow(nn.Module):
    """A factor that is as long as a weight, and has two dimensions."""

    def forward(self, x, row):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * row


class WiderWeight(nn.Module):
    """The weight is float32, and `x` is not."""

    def forward(self, x, weight):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return y.to(x.dtype) * weight


class SecondReader(nn.Module):
    """The norm is read without its weight, too."""

    def forward(self, x, weight):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return y * weight, y


class TwoWeights(nn.Module):
    """Two products, one after the other."""

    def forward(self, x, first, second):
        return second * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * first)


class BothWeights(nn.Module):
    """Two products of one norm."""

    def forward(self, x, first, second):
        y = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)
        return y * first, y * second


class WeightComesLater(nn.Module):
    """What the norm is multiplied by is computed after it."""

    def forward(self, x, y):
        norm = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return norm * torch.exp(y).sum(0)


class TimesItself(nn.Module):
    """A product of the norm with itself."""

    def forward(self, x):
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return y * y


class WeightedAdd(nn.Module):
    """Something else than a product comes after the norm."""

    def forward(self, x, weight):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) + weight


# ------------------------------------------------------------------ left alone


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


class SharedSquare(nn.Module):
    """Two norms with one square."""

    def forward(self, x):
        mean = x.pow(2).mean(-1, keepdim=True)
        return x * torch.rsqrt(mean + 1e-6) - x * torch.rsqrt(mean + 0.1)


class OtherPowers(nn.Module):
    def forward(self, x):
        y = x.abs()
        a = y * torch.rsqrt(y.pow(3).mean(-1, keepdim=True) + 1e-6)
        b = y * torch.rsqrt(y.mean(-1, keepdim=True) + 1e-6)
        return a, b, y * torch.rsqrt(y.pow(0.5).mean(-1, keepdim=True) + 1e-6)


class OtherSteps(nn.Module):
    """This one multiplies instead of adding, and adds instead of squaring."""

    def forward(self, x):
        y = x.abs()
        a = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) * 0.5)
        return a, y * torch.rsqrt((y + y).mean(-1, keepdim=True) + 1e-6)


class OtherDimensions(nn.Module):
    """`x` is square, so that all of these fit."""

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


class TwoCasts(nn.Module):
    """Two values of half precision, each cast."""

    def forward(self, x, y):
        scale = torch.rsqrt((x.float() * x.float()).mean(-1, keepdim=True) + 1e-6)
        other = torch.rsqrt((x.float() * y.float()).mean(-1, keepdim=True) + 99.0)
        return (y.float() * scale).half(), (x.float() * other).half()


class EpsIsATensor(nn.Module):
    def forward(self, x, eps):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps.abs())


class Cousins(nn.Module):
    """Another function, a root that is squared, and a quotient."""

    def forward(self, x):
        a = x * torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        b = x + torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return a, scale * scale, b, x / torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class Lengths(nn.Module):
    """No mean: the sum of the squares, and the largest of them."""

    def forward(self, x):
        a = x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-6)
        return a, x * torch.rsqrt(x.pow(2).amax(-1, keepdim=True) + 1e-6)


# ------------------------------------------------------------------ from a class to a graph


@dataclass(frozen=True)
class Recorded:
    """Records the ATen graph of a model.

    Attributes:
        inputs: what the model is recorded with, tensors as `T`.
    """

    inputs: tuple[T, ...]

    def __call__(self, model: nn.Module) -> fx.GraphModule:
        """The graph module that `make_fx` gives, in fake mode."""
        from torch.fx.experimental.proxy_tensor import make_fx

        example = arguments(self.inputs, torch.Generator(), FLOAT)
        with torch.no_grad():
            return make_fx(_function_of(model), tracing_mode="fake")(*example)


def _function_of(model: nn.Module) -> Callable[..., Any]:
    """A plain function with the parameters of a model; of other callables, `make_fx` loses them."""
    names = ", ".join(inspect.signature(model.forward).parameters)
    made: Callable[..., Any] = eval(f"lambda {names}: model({names})", {"model": model})
    return made


@dataclass(frozen=True)
class Graphs:
    """Builds the objects of a case of ``fuse_rms_norm(gm)``.

    Attributes:
        make: builds the model.
        inputs: of the example, and of the run.
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
    """The graph of a class; callers copy it."""
    return Recorded(inputs)(make())


def of_random_model(trial: Trial, choice: int) -> Trial:
    """A trial about the graph that is recorded of a random model."""
    assert trial.model is not None
    specs = tuple(T(*x.shape, dtype=x.dtype) for x in trial.inputs[0])
    gm = Recorded(specs)(copy.deepcopy(trial.model))
    return Trial(args=(gm,), model=trial.model, inputs=trial.inputs[:1])


def as_recorded(inputs: tuple[Any, ...]) -> Recorded:
    """How the graph of a random model is recorded, from the specs of its inputs."""
    return Recorded(tuple(spec for spec in inputs if isinstance(spec, T)))
