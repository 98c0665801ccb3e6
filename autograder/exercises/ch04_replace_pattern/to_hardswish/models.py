"""The models of `to_hardswish`: hard swishes as separate operations, and similar expressions."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101, D103

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import fx, nn

# FX records calls of it instead of tracing into it.
fx.wrap("relu6")


class Swish(nn.Module):
    def forward(self, x):
        return x * F.relu6(x + 3) / 6


def relu6(x):
    return x * 0.5


class OwnRelu6(nn.Module):
    """A function in the notebook with the name of PyTorch's function."""

    def forward(self, x):
        return x * relu6(x + 3) / 6


class SwishTurned(nn.Module):
    def forward(self, x):
        return F.relu6(x + 3) * x / 6


class SwishMixed(nn.Module):
    def forward(self, x):
        first = x * F.relu6(x + 3.0) / 6
        return first * F.relu6(first + 3) / 6.0


class SwishOfLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 3)
        self.swish = SwishTurned()

    def forward(self, x):
        hidden = self.first(x)
        hidden = hidden * F.relu6(hidden + 3) / 6
        return self.swish(self.second(hidden)) + self.swish(x)


class SwishOfGate(nn.Module):
    """The factor next to each gate is itself a ReLU6, once of a sum with 3."""

    def forward(self, x):
        clipped = F.relu6(x)
        first = clipped * F.relu6(clipped + 3) / 6
        shifted = F.relu6(first + 3)
        return F.relu6(shifted + 3) * shifted / 6


class WrongNumbers(nn.Module):
    def forward(self, x):
        a = x * F.relu6(x + -3) / 6
        b = x * F.relu6(x + 3) / 3
        c = F.relu6(x + 6) * x / 6
        d = F.relu6(x + 3) * x / -6
        e = x * F.relu6(x + 6) / 3
        return a + b - c * d + e


class NearNumbers(nn.Module):
    def forward(self, x):
        a = x * F.relu6(x + 3.1) / 6
        b = x * F.relu6(x + 3) / 6.1
        c = F.relu6(x + 2.99) * x / 6.0
        d = F.relu6(x + 3.0) * x / 5.999
        return a + b - c * d


class TwoDifferent(nn.Module):
    def forward(self, x, y):
        return y * F.relu6(x + 3) / 6 - F.relu6(y + 3) * x / 6


class SumReadElsewhere(nn.Module):
    def forward(self, x):
        shifted = x + 3
        return x * F.relu6(shifted) / 6 - shifted


class GateReadByKeyword(nn.Module):
    def forward(self, x):
        gate = F.relu6(x + 3)
        return torch.sub(gate * x / 6, other=gate)


class OtherOperations(nn.Module):
    def forward(self, x):
        a = x * F.relu6(x - 3) / 6
        b = x * F.relu(x + 3) / 6
        c = x + F.relu6(x + 3) / 6
        d = x * F.relu6(x + 3) * 6
        e = x * F.relu6(x + 3) // 6
        f = F.relu6(x + 3) / 6
        g = 6 / (x * F.relu6(x + 3))
        return a + b + c + d + e + f, g


class OneOfTwo(nn.Module):
    def forward(self, x, y):
        real = x * F.relu6(x + 3) / 6
        almost = y * F.relu6(real + 3) / 6
        return real * almost
