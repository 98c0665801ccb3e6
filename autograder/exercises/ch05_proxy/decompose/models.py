"""Small models with functions to decompose, and the rules for it."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101, D103

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

from autograder.authoring.models import TracedInPart, Trial
from autograder.models.networks import Encoder

# ------------------------------------------------------------------ rules


def square_rule(x):
    return x * x


def square_in_place_rule(x):
    result = x.clone()
    result.mul_(x)
    return result


def tanh_rule(x):
    return 1 - 2 / (torch.exp(2 * x) + 1)


def lerp_rule(start, end, weight):
    return torch.add(start, torch.mul(weight, torch.sub(end, start)))


def addcmul_rule(input, tensor1, tensor2, *, value=1):
    return torch.add(input, torch.mul(tensor1, tensor2), alpha=value)


def sub_rule(input, other, *, alpha=1):
    return torch.add(input, torch.neg(other), alpha=alpha)


def stack_rule(tensors, dim=0):
    return torch.cat([tensor.unsqueeze(dim) for tensor in tensors], dim=dim)


def div_rule(input, other, *, rounding_mode=None):
    quotient = torch.mul(input, torch.reciprocal(other))
    if rounding_mode is None:
        return quotient
    return {"floor": torch.floor, "trunc": torch.trunc}[rounding_mode](quotient)


def pow_rule(base, exponent):
    result = base
    for _ in range(exponent - 1):
        result = torch.mul(result, base)
    return result


def quotient_rule(a, b):
    return b**-1 * a


def two_rule(x):
    return 2.0


def three_rule(x):
    return 3


def zero_rule(x):
    return 0


def none_rule(x):
    return None


def itself_rule(x):
    return x


def item_rule(values, index):
    return values[index] + 0


def attribute_rule(value, name):
    return value.transpose(0, 1) if name == "T" else getattr(value, name)


def exp_twice_rule(x):
    return torch.exp(x) + torch.exp(x)


def mul_rule(input, other):
    return torch.neg(torch.mul(input, torch.neg(other)))


def add_rule(input, other, *, alpha=1):
    return torch.sub(input, other, alpha=-alpha)


def relu_rule(input, inplace=False):
    return torch.clamp(input, min=0)


# ------------------------------------------------------------------ models


class Square(nn.Module):
    def forward(self, x):
        return torch.square(x) + 1


class SquareOutput(nn.Module):
    def forward(self, x):
        return torch.square(x)


class Squares(nn.Module):
    def forward(self, x):
        y = torch.square(torch.square(x))
        return y * torch.square(y + x)


class SquaredWeight(nn.Module):
    """The model squares a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * torch.square(self.weight)


class Lerp(nn.Module):
    def forward(self, x, y):
        return torch.lerp(x, y, 0.25).sin()


class Addcmul(nn.Module):
    def forward(self, x, y):
        z = torch.addcmul(x, y, x.sin(), value=3)
        return torch.addcmul(z, tensor1=x, tensor2=y)


class Stack(nn.Module):
    def forward(self, x, y):
        return torch.stack([x, y.sin(), x], 1)


class Picked(nn.Module):
    def forward(self, x):
        last = x.dim() - 1
        return x[[last, 0], 1].sin()


class Turned(nn.Module):
    def forward(self, x):
        return torch.exp(x.T)


class Sliced(nn.Module):
    def forward(self, x):
        last = x.dim() - 1
        return x[:last].sin()


class SameTwice(nn.Module):
    def forward(self, x):
        return torch.sub(x, x * 2) + torch.sub(x, x)


class PowNumel(nn.Module):
    def forward(self, x):
        return torch.pow(x, torch.numel(x.sin()))


class ClampMin(nn.Module):
    def forward(self, x):
        return torch.clamp(x, torch.amin(x), 0.5)


class MeanOutput(nn.Module):
    def forward(self, x):
        return torch.mean(x)


class MeanByKeyword(nn.Module):
    def forward(self, x):
        return torch.clamp(x, min=torch.mean(x)).sin() + torch.mul(x, other=torch.mean(x * 2))


class Exp(nn.Module):
    def forward(self, x):
        return torch.exp(x).sin()


class OtherSpellings(nn.Module):
    def forward(self, x, y):
        a = torch.add(x, y, alpha=2)
        b = x + y
        return a * b.add(y) + torch.sub(b, a)


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.ones(3))
        self.block = nn.Sequential(nn.Linear(3, 3), Square(), nn.BatchNorm1d(3))
        self.act = nn.Sequential(nn.ModuleDict({"square": SquareOutput()})["square"])

    def forward(self, x):
        y = self.block(self.act(x) * self.weight)
        return self.act(y) - self.shift


class NestedAndSquare(Nested):
    def forward(self, x):
        return super().forward(torch.square(x)) * 2


class Defaults(nn.Module):
    def forward(self, square, scale=0.5, unread=None, *rest):
        return torch.square(square) * scale


class Dead(nn.Module):
    def forward(self, x):
        torch.square(x.cos())
        torch.exp(x)
        return x.sin()


class InPlace(nn.Module):
    def forward(self, x):
        y = x.sin()
        z = torch.square(y)
        y.add_(1)
        x.mul_(2)
        return torch.square(y) + z


class NestedTuple(nn.Module):
    def forward(self, x):
        y = torch.square(x)
        return y, [x.sin(), {"y": y}], (x, (y, 2))


class CatByKeyword(nn.Module):
    def forward(self, x):
        y = torch.square(x)
        return torch.cat(tensors=[y, x], dim=0)


def traced_squares() -> fx.GraphModule:
    """A `GraphModule` that calls submodules; a fresh trace enters them."""
    return TracedInPart(NestedAndSquare)()


def encoder() -> Encoder:
    """A transformer encoder with one layer."""
    return Encoder(depth=1)


# ------------------------------------------------------------------ random models


Rules = dict[Callable[..., Any], Callable[..., Any]]


# For each function, the rules that accept the arguments of its calls in the models.
RULES: dict[Callable[..., Any], tuple[Callable[..., Any], ...]] = {
    torch.square: (square_rule, exp_twice_rule),
    torch.sub: (sub_rule,),
    torch.add: (add_rule,),
    torch.mul: (mul_rule,),
    torch.addcmul: (addcmul_rule,),
    torch.stack: (stack_rule,),
    torch.div: (div_rule,),
    torch.pow: (pow_rule,),
    torch.numel: (three_rule,),
    torch.mean: (two_rule, zero_rule),
    torch.amin: (none_rule,),
    torch.argmax: (zero_rule,),
    torch.positive: (itself_rule,),
    torch.tanh: (tanh_rule,),
    torch.exp: (exp_twice_rule,),
    operator.truediv: (quotient_rule,),
    F.relu: (relu_rule,),
}


def with_rules(trial: Trial, choice: int) -> Trial:
    """The trial with rules for all or some of the functions that its model calls."""
    model = trial.model
    called = _called(model) if isinstance(model, fx.GraphModule) else _called_in(type(model))
    rules: Rules = {}
    for place, (function, kinds) in enumerate(RULES.items()):
        if function in called and (choice % 4 != 3 or (place + choice // 4) % 2):
            rules[function] = kinds[choice // 4 % len(kinds)]
    if torch.pow in rules:  # the loop of its rule needs a number
        rules[torch.numel] = three_rule
    return replace(trial, args=(trial.model, rules))


@lru_cache(maxsize=64)
def _called_in(cls: type[nn.Module]) -> set[Any]:
    return _called(fx.symbolic_trace(cls()))


def _called(gm: fx.GraphModule) -> set[Any]:
    return {node.target for node in gm.graph.nodes}
