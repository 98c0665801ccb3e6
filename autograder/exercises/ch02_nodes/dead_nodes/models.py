"""Models with values that never reach the output, for `dead_nodes`."""

from __future__ import annotations

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.models import Trial, perhaps_renamed

fx.wrap("pick")

NO_ELIMINATION = ((fx.Graph, "eliminate_dead_code", "anywhere"),)


class DeadChain(nn.Module):
    """A chain of dead nodes, of which only the last has no reader."""

    def forward(self, x):
        first = torch.exp(x)
        second = torch.sin(first)
        third = torch.cos(second)
        fourth = torch.tanh(third)
        fifth = torch.abs(fourth)
        torch.neg(fifth)
        return first * 2


class OneOfTwo(nn.Module):
    """One item of each pair is dead: first the first item, then the second."""

    def forward(self, x, y):
        halves = x.chunk(2)
        halves[0].neg()
        lower = halves[1]
        parts = torch.split(y, 1)
        upper = parts[0]
        parts[1].neg()
        return lower + upper


class ReturnsNothing(nn.Module):
    """Its result is `None`."""

    def forward(self, x):
        torch.exp(x).sum()


class DeadTwins(nn.Module):
    """Dead calls of a module and a function that also have useful calls."""

    def __init__(self):
        super().__init__()
        self.act = nn.Tanh()

    def forward(self, x):
        self.act(x)
        y = torch.sin(x)
        torch.sin(x)
        return self.act(x) - y


class DeadReadOfABuffer(nn.Module):
    """Two nodes read one buffer; the dead one runs only if `mask` is not `None`."""

    def __init__(self):
        super().__init__()
        self.register_buffer("shift", torch.rand(3))

    def forward(self, x, mask=None):
        if mask is not None:  # always true during tracing
            x - self.shift
        return x + self.shift


class LooksInPlace(nn.Module):
    """Dead calls of `and_`, with a name that ends in `_`, and of a function with `inplace`."""

    def forward(self, x, y):
        (x > 0) & (y > 0)
        F.relu(x - y)
        return x * y


class DeadSines(nn.Module):
    """A dead chain of any length."""

    def __init__(self, length):
        super().__init__()
        self.length = length

    def forward(self, x):
        y = x
        for _ in range(self.length):
            y = torch.sin(y)
        return x.neg()


class ByMode(nn.Module):
    """In training mode no node is dead."""

    def forward(self, x):
        wide = torch.exp(x)
        return x * wide if self.training else x.neg()


def pick(x, table=None, rows=None):
    """A function that reads a dictionary or a slice."""
    return x + table["y"] if rows is None else x[rows]


class KeywordContainers(nn.Module):
    """Useful values in a dictionary and a slice, both keyword arguments."""

    def forward(self, x, y):
        size = y.size(0)
        return pick(pick(x, table={"y": y.sin()}), rows=slice(0, size))


def without_elimination(trial: Trial, choice: int) -> Trial:
    """The trial, perhaps with renamed nodes, without access to PyTorch's own elimination."""
    return replace(perhaps_renamed(trial, choice), forbidden=NO_ELIMINATION)
