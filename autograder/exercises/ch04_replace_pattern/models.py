"""What exercises of chapter 04 share: patterns, models to search, and what traces a model."""

# A learner sees these as they stand here; their names say what they are for.
# ruff: noqa: D101, D103

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import fx, nn


def relu_of_relu(a):
    return torch.relu(torch.relu(a))


def one_relu(a):
    return torch.relu(a)


def sum_of_two(a, b):
    return a + b


class OneWave(nn.Module):
    def forward(self, x, y):
        return torch.sin(x) + y


class ReluChain(nn.Module):
    def __init__(self, length=3):
        super().__init__()
        self.length = length

    def forward(self, x):
        for _ in range(self.length):
            x = torch.relu(x)
        return x


@dataclass(frozen=True)
class Traced:
    """Makes a graph module: the trace of a fresh model."""

    make: Callable[[], nn.Module]

    def __call__(self) -> fx.GraphModule:
        """A fresh trace."""
        return fx.symbolic_trace(self.make())
