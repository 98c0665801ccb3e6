"""Models that produce a NaN or an infinity, each at another kind of node, for `first_nonfinite`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from autograder.authoring.models import Trial
from autograder.models import networks
from autograder.models.running import Exactly, with_inputs

INF, NAN = math.inf, math.nan


class Overflow(nn.Module):
    """First an infinity, then a NaN."""

    def forward(self, x):
        big = torch.exp(x)
        return (big - big).relu()


class WithLimit(nn.Module):
    """All computed values are finite, but the result contains the constant infinity."""

    def forward(self, x):
        return x.abs(), {"limit": INF}


class AllFinite(nn.Module):
    """Integers, booleans, an empty tensor and `None`; all values are finite."""

    def forward(self, x, index, unused=None):
        counts = torch.bincount(index, minlength=4)
        mask = counts > 1
        empty = x[:0]
        return x.sum() + counts, mask, empty, x.size(0), unused


class Large(nn.Module):
    """Each number is finite, but their sum is not."""

    def forward(self, x):
        size = x.abs()
        return size.max(), torch.sort(-size)[0]


class LargeInteger(nn.Module):
    """A Python integer that is larger than any float."""

    def forward(self, x):
        ways = 3 ** (x.size(0) * 1_000)
        return x.abs(), ways, ways > 1


class WithText(nn.Module):
    """Text that looks like a number that is not finite."""

    def forward(self, x, missing="nan"):
        return x.abs(), {"missing": missing, "limit": "inf"}


class Unread(nn.Module):
    """The NaN is in a value without readers."""

    def forward(self, x):
        torch.sqrt(x)
        return x.abs()


class TwoSources(nn.Module):
    """Two branches overflow; the first to run is the second operand of the sum."""

    def forward(self, x, y):
        right = y.exp()
        left = x.exp()
        return left + right


class WithParameter(nn.Module):
    """The graph reads a parameter and a buffer; the buffer is not in the `state_dict`."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(3))
        self.register_buffer("mask", torch.rand(3), persistent=False)

    def forward(self, x):
        return torch.softmax(x * self.gain + self.mask, dim=-1)


class Layers(nn.Module):
    """Nested modules; the weights belong to leaf modules."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
        self.head = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2))

    def forward(self, x):
        return self.head(self.stem(x)) + 1


class Pieces(nn.Module):
    """The second tensor of a tuple."""

    def forward(self, x):
        mean = x.mean(dim=0)
        spread = torch.var_mean(x, dim=0)
        return mean, spread


class Gathered(nn.Module):
    """The input is a dictionary of lists."""

    def forward(self, batch):
        return torch.stack(batch["parts"]).sum()


class Volume(nn.Module):
    """`slogdet` returns a named tuple, with the logarithm as second item."""

    def forward(self, x):
        sign, log = torch.linalg.slogdet(x)
        return sign * log.exp()


class AsFloat(nn.Module):
    """A Python float."""

    def forward(self, x, scale=1.0):
        peak = x.max().item()
        ratio = peak * scale
        return x * ratio


class HalfPrecision(nn.Module):
    """Finite in float32, too large for float16."""

    def forward(self, x):
        wide = x * 60_000
        narrow = wide.half()
        return narrow * 2


# ------------------------------------------------------------------ values that are not finite


def state(value: float) -> tuple[Any, ...]:
    """The inputs of `Nested`: zeros, and `value` in the second part of the state."""
    zeros = Exactly(0.0, shape=(1, 2, 4))
    return Exactly(0.0, shape=(2, 5, 3)), (zeros, Exactly(value, shape=(1, 2, 4)))


def spoil_norm(model: nn.Module) -> None:
    """Make one variance negative, deep inside, so that the layer returns NaN for this channel."""
    norms = [m for m in networks.not_in_place(model).modules() if isinstance(m, nn.BatchNorm2d)]
    norms[len(norms) // 2].running_var[1] = -1.0


def spoil_weight(model: nn.Module) -> None:
    """Make one weight infinite."""
    model.head[1].weight[0, 0] = INF


def spoil_mask(model: nn.Module) -> None:
    """Write an infinity into a buffer."""
    model.mask[0] = -INF


def _spoiled(values: list[torch.Tensor], choice: int) -> None:
    """Write a NaN or an infinity into one of the tensors."""
    number = (NAN, INF, -INF)[choice % 3]
    if values:
        values[choice % len(values)].view(-1)[-1:] = number


def perhaps_spoiled(trial: Trial, choice: int) -> Trial:
    """The trial, for some choices with a NaN or an infinity in an input or a parameter."""
    trial = with_inputs(trial, choice)
    (inputs,) = trial.inputs
    with torch.no_grad():
        if choice % 8 == 1:
            _spoiled([value for value in inputs if isinstance(value, torch.Tensor)], choice // 8)
        elif choice % 4 == 2:
            _spoiled([*trial.model.parameters(), *trial.model.buffers()], choice // 4)
        elif choice % 8 == 3 and isinstance(inputs[-1], float):
            inputs = (*inputs[:-1], NAN)
    return replace(trial, args=(trial.model, *inputs), inputs=(inputs,))
