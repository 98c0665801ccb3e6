"""Models with values that nobody needs: for `dead_nodes`."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import fx, nn

from autograder.core.exercise import Trial
from autograder.models.renaming import perhaps_renamed

NO_ELIMINATION = ((fx.Graph, "eliminate_dead_code", "anywhere"),)


class DeadChain(nn.Module):
    """A chain of dead nodes: only its end has no reader."""

    def forward(self, x):
        first = torch.exp(x)
        second = torch.sin(first)
        third = torch.cos(second)
        fourth = torch.tanh(third)
        fifth = torch.abs(fourth)
        torch.neg(fifth)
        return first * 2


class AllAlive(nn.Module):
    """Nothing is dead."""

    def forward(self, x, y):
        return torch.exp(x) + y.neg()


class DeadContainers(nn.Module):
    """Values that are lost although lists, slices and keywords read them."""

    def forward(self, x, y):
        listed = torch.cat([x.sin(), y])
        size = x.size(0)
        part = listed[:size]
        torch.clamp(y.cos(), min=part)
        return y.neg()


class ReturnsInput(nn.Module):
    """The result is a parameter: all calls are dead."""

    def forward(self, x, y):
        torch.exp(x) + y
        return x


class ReturnsNothing(nn.Module):
    """The result is `None`."""

    def forward(self, x):
        torch.exp(x).sum()


class NoNodesAlive(nn.Module):
    """The result is a constant: no value reaches the output."""

    def forward(self, x, y):
        x.add(y).relu()
        return 1


def without_elimination(trial: Trial, choice: int) -> Trial:
    """The trial, perhaps with other names; PyTorch's own elimination may not be used."""
    return replace(perhaps_renamed(trial, choice), forbidden=NO_ELIMINATION)
