"""Pairs of models for `worst_node`, one of them with quantized values."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101, D102, D107

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.models import Trial, arguments, fresh
from autograder.exercises.ch14_quantization.models import GIVEN
from autograder.given import dequantize, quantize
from autograder.models.running import filled


class Pair(nn.Module):
    """A model; in the quantized one, `go` quantizes and dequantizes a value."""

    def __init__(self, quantized: bool) -> None:
        super().__init__()
        self.quantized = quantized

    def go(self, value, scale):
        return dequantize(quantize(value, scale), scale) if self.quantized else value


class Straight(Pair):
    def forward(self, x):
        y = self.go(torch.sin(x), 0.01)
        z = self.go(torch.cos(y), 0.3)
        return self.go(z.exp(), 0.02) * 3


class SideBySide(Pair):
    def forward(self, x):
        near = torch.sigmoid(self.go(x, 0.02))
        far = torch.tanh(self.go(x, 0.4))
        return near, torch.cos(far)


class OneNumberOff(Pair):
    """One tensor has a single number with a large error; another has small errors everywhere."""

    def forward(self, x):
        a = self.go(x, 0.001) * torch.ones_like(x)
        y = torch.cat([x, x[:1] * 0.01])
        b = self.go(y, 0.25).neg()
        return a.sum(), b


class Clipped(Pair):
    """Quantization makes one value smaller, and the other larger."""

    def forward(self, x):
        less = self.go(x * 10, 0.0118).neg()
        more = self.go(x, 0.5).abs()
        return less, more


class Equal(Pair):
    """These have the same error for each number."""

    def forward(self, x):
        y = self.go(x, 0.2)
        a = y.clone()
        b = a.clone()
        return b * 2, a * 4


class ChangedLater(Pair):
    def forward(self, x):
        y = torch.relu(self.go(x, 0.5))
        w = y.mul(0.5) + 1
        y.add_(1000)
        return w, y


class ChangedThroughAView(Pair):
    """A call changes the worst value through a view of it."""

    def forward(self, x):
        y = torch.relu(self.go(x, 0.5))
        w = y.mul(0.5) + 1
        F.hardtanh(y.view(-1), 7.0, 8.0, inplace=True)
        return w, y


class ChangesItsInput(Pair):
    def forward(self, x):
        y = self.go(x, 0.001).sin()
        z = torch.cos(self.go(x + 1, 0.9))
        x.mul_(0)
        return y, z


class ChangesANestedInput(Pair):
    """The changed tensor is in a list inside a dictionary."""

    def forward(self, given):
        x = given["pair"][0]
        y = self.go(x, 0.001).sin()
        z = torch.cos(self.go(x + 1, 0.9))
        x.mul_(0)
        return y, z


class OnlyZeros(Pair):
    """The values are zero in the float graph only."""

    def forward(self, x):
        y = x.sub(self.go(x, 0.4) if self.quantized else x)
        return torch.neg(y), torch.tanh(self.go(x, 0.2))


class InEightBits(Pair):
    """One value is an 8-bit tensor in the quantized graph, not a floating one."""

    def forward(self, x):
        y = quantize(x, 0.4) if self.quantized else x
        z = y.reshape(-1)
        z = dequantize(z, 0.4) if self.quantized else z
        return torch.sigmoid(z)


class WorstLayer(Pair):
    """The worst value is that of a layer."""

    def __init__(self, quantized):
        super().__init__(quantized)
        self.act = nn.Tanh()

    def forward(self, x):
        y = self.go(torch.cos(x), 0.02)
        return self.act(self.go(x * 0.5, 0.4)) * 0 + torch.cos(y)


class ZerosInEightBits(Pair):
    """Numbers far below the scale become zero in the quantized graph."""

    def forward(self, x):
        y = self.go(x * 0.001, 1.0).sin()
        return self.go(x, 0.2).exp(), y + 5


class VerySmall(Pair):
    """Numbers far below one, with large errors."""

    def forward(self, x):
        y = self.go(x * 1e-9, 6e-10) * 2
        return y + 1, torch.cos(self.go(x, 0.05))


class NearlyRight(Pair):
    """Both values have tiny errors, the second one twice as large."""

    def forward(self, x):
        off = 2.0**-22 if self.quantized else 0.0
        return x + off, x + 2 * off


class LastIsOff(Pair):
    """Only the returned value is quantized."""

    def forward(self, x):
        return self.go(torch.cos(x), 0.3)


class UnreadWorst(Pair):
    """The worst value is not read."""

    def forward(self, x):
        y = self.go(x, 0.4)
        y.pow(3)
        return y * 0.001 + 1


class RowsApart(Pair):
    """One value has all rows, the other one only the first row."""

    def forward(self, x):
        rows = self.go(x, 0.5).neg()
        first = self.go(x[0], 0.7).neg()
        return rows, first


class CallOrParameter(Pair):
    """A call in one graph is a parameter in the other."""

    def __init__(self, quantized):
        super().__init__(quantized)
        name = "sin" if quantized else "cos"
        self.register_parameter(name, nn.Parameter(torch.ones(2, 3)))

    def forward(self, x):
        first = self.sin if self.quantized else torch.sin(x)
        second = torch.cos(x) if self.quantized else self.cos
        return first + 50, second + 50, torch.exp(self.go(x, 0.05))


def other_weight(gm: fx.GraphModule) -> None:
    """Change the parameter of a graph module by a large amount."""
    weight = getattr(gm, "weight", None)
    if weight is not None:
        with torch.no_grad():
            weight.mul_(0.5)


@dataclass(frozen=True, eq=False)
class PairTrial:
    """Builds the objects of ``worst_node(float_gm, quant_gm, *inputs)``.

    Attributes:
        make: a class of pairs.
        inputs: the inputs, tensors as `T` or `Exactly`.
    """

    make: Callable[[bool], nn.Module]
    inputs: tuple[Any, ...]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        first, second = (
            fx.symbolic_trace(fresh(lambda q=q: self.make(q), seed, dtype=torch.float32))
            for q in (False, True)
        )
        other_weight(second)
        generator = torch.Generator().manual_seed(seed + 1)
        given = arguments(filled(self.inputs), generator, torch.float32)
        return Trial(
            args=(first, second, *given),
            model=first,
            watch=(second, *given),
            functions=dict(GIVEN),
        )
