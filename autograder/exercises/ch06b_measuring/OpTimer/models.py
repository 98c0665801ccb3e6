"""Models whose calls take time or raise, for `OpTimer`."""

from __future__ import annotations

import time
from dataclasses import replace

import torch
from torch import fx, nn

from autograder.authoring.models import Trial
from autograder.models.running import on_a_trace

SPIN = 0.012
"""The minimum processor time of one call of `slow`, in seconds."""


@fx.wrap
def slow(x: torch.Tensor, times: float = 1) -> torch.Tensor:
    """Return `x + 1` after some work, which every clock measures, even on a busy machine."""
    start = time.thread_time()
    while time.thread_time() - start < SPIN * times:
        pass
    return x + 1


@fx.wrap
def wait(x: torch.Tensor, times: int = 1) -> torch.Tensor:
    """Return `x + 1` after some time without work for the processor."""
    time.sleep(SPIN * times)
    return x + 1


@fx.wrap
def refuse_negative(x: torch.Tensor) -> torch.Tensor:
    """Return `x`, or raise a `ValueError` if its sum is negative."""
    if float(x.sum()) < 0:
        raise ValueError("negative sum")
    return x


@fx.wrap
def refuse_late(x: torch.Tensor) -> torch.Tensor:
    """Return `x` at once, or raise a `ValueError` after some work if its sum is negative."""
    return refuse_negative(slow(x, times=2) - 1 if float(x.sum()) < 0 else x)


class OneSlow(nn.Module):
    """A slow function between quick ones."""

    def forward(self, x):
        y = torch.relu(x)
        y = slow(y)
        y = torch.relu(y).abs()
        return torch.relu(y) * y.tanh()


class SlowFirst(nn.Module):
    """A slow function in front of a quick one."""

    def forward(self, x):
        return slow(x).abs()


class OneWaits(nn.Module):
    """A function that waits, as for a disk, and a function that works."""

    def forward(self, x):
        return slow(wait(torch.relu(x), times=3)).abs()


class EveryKind(nn.Module):
    """Nodes of all six kinds, a module called twice, a default."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))
        self.act = nn.Tanh()

    def forward(self, x, scale=2.0):
        x = self.act(x + self.weight)
        return self.act(x * scale).sum(dim=-1)


class Checked(nn.Module):
    """A call with the value `None`, before other calls and after them."""

    def forward(self, x):
        torch._assert(x.dim() > 0, "one number")
        y = torch.relu(x)
        torch._assert(y.dim() < 4, "too many dimensions")
        return y.abs()


class TwoSlow(nn.Module):
    """Two slow calls, of which the second takes three times as long; and one without readers."""

    def forward(self, x):
        first = slow(x)
        second = slow(first, times=3)
        slow(second)
        return second.neg()


class ManyQuick(nn.Module):
    """Enough equal calls for some of them to take the same time."""

    def forward(self, x):
        return [x.dim() for _ in range(200)]


class MayRefuse(nn.Module):
    """A function that raises for some inputs, with calls before and after."""

    def forward(self, x):
        y = torch.exp(x).log()
        return refuse_negative(y).cos()


class RefusesLate(nn.Module):
    """A function that is quick for some inputs, and raises after some work for others."""

    def forward(self, x):
        return refuse_late(x.abs() * x).cos()


class SlowThenRefuses(nn.Module):
    """A slow call, one that raises for some inputs, and one that takes twice as long."""

    def forward(self, x):
        first = refuse_negative(slow(x))
        return slow(first, times=2)


def timed(trial: Trial, choice: int) -> Trial:
    """The trial with several runs of one trace, some on an input that may not fit."""
    trial = on_a_trace(trial, choice)
    first, *others = trial.inputs[0]
    runs = [trial.inputs[0], trial.inputs[-1]]
    if first.dim() and choice:
        runs += [(torch.cat([first, first], dim=-1), *others), trial.inputs[0]]
    return replace(trial, inputs=tuple(runs))
