"""Models for `count_ops` alone."""

from __future__ import annotations

import torch
from torch import fx, nn


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


def called_as_one() -> fx.GraphModule:
    """A graph module that calls a `Sequential`; a fresh trace of it calls what is inside."""
    graph = fx.Graph()
    graph.output(graph.call_module("layers", (graph.placeholder("x"),)))
    return fx.GraphModule({"layers": nn.Sequential(nn.Linear(3, 3), nn.ReLU())}, graph)


class NoiseWhileTraining(nn.Module):
    """Two nodes more in training mode."""

    def forward(self, x):
        y = torch.tanh(x)
        return y + torch.rand_like(y) if self.training else y
