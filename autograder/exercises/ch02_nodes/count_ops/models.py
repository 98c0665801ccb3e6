"""Models only for `count_ops`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import Trial


class OnlyModules(nn.Module):
    """Submodules and nothing else."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2))

    def forward(self, x):
        return self.layers(x)


class CalledTwice(nn.Module):
    """One module called twice, one function called twice, a tensor read twice."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(3)
        self.register_buffer("offset", torch.rand(3))

    def forward(self, x):
        first = torch.relu(self.norm(x) + self.offset)
        return torch.relu(self.norm(first) - self.offset)


class OptionalScale(nn.Module):
    """Tracing passes a proxy instead of None; the parameter's name contains a Python keyword."""

    def forward(self, x, return_scale=None):
        y = torch.tanh(x)
        if return_scale is not None:
            y = y * return_scale + 1
        return y


class PlainTensors(nn.Module):
    """Neither tensor is a parameter or a buffer, but a node reads each of them."""

    def __init__(self):
        super().__init__()
        self.factor = torch.rand(3)

    def forward(self, x):
        return x * self.factor + torch.ones(3)


def called_as_one() -> fx.GraphModule:
    """A graph module that calls a `Sequential`; a fresh trace calls the layers inside."""
    graph = fx.Graph()
    graph.output(graph.call_module("layers", (graph.placeholder("x"),)))
    return fx.GraphModule({"layers": nn.Sequential(nn.Linear(3, 3), nn.ReLU())}, graph)


class NoiseWhileTraining(nn.Module):
    """Training mode adds two nodes."""

    def forward(self, x):
        y = torch.tanh(x)
        return y + torch.rand_like(y) if self.training else y


@dataclass(frozen=True, eq=False)
class LookedAtLater:
    """Builds a trial that calls the answer on another model before the judge reads the result."""

    plain: Callable[[int], Trial]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        return replace(self.plain(seed), meanwhile=_with_another_model)


def _with_another_model(answer: Callable[[nn.Module], Any]) -> None:
    answer(OnlyModules())
