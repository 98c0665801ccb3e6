"""Models for several exercises, with node names and edges that are easy to overlook."""

# Cards show these classes to learners; their names describe their purpose.
# ruff: noqa: D101

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import fx, nn

# ------------------------------------------------------------------ names and edges


class ReluPlusOne(nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1


class SineChain(nn.Module):
    """Two models of this class need not have the same graph."""

    def __init__(self, length=3):
        super().__init__()
        self.length = length

    def forward(self, x):
        for _ in range(self.length):
            x = torch.sin(x)
        return x


class Doubled(nn.Module):
    def forward(self, x):
        return x + x


class BuiltinNames(nn.Module):
    def forward(self, input, max=2.0):
        return input.sum() * max


class SharedAct(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

    def forward(self, x):
        return self.block(x) + self.block(x * 2)


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))

    def forward(self, x):
        return x * self.weight


class NamedOutput(nn.Module):
    """A layer has the name of the last node, and a buffer is multiplied without any input."""

    def __init__(self):
        super().__init__()
        self.output = nn.Linear(3, 3)
        self.register_buffer("shift", torch.rand(3))

    def forward(self, x):
        return self.output(x + self.shift * 2)


class TracedWithin(nn.Module):
    """One of its layers is a graph module, which tracing enters."""

    def __init__(self):
        super().__init__()
        self.block = fx.symbolic_trace(ReluPlusOne())

    def forward(self, x):
        return self.block(x) * 2


class UnusedParts(nn.Module):
    def forward(self, x, unused):
        torch.sin(x)  # no line reads this value
        return x.cos()


class StarArguments(nn.Module):
    def forward(self, x, *rest, **options):
        return x + rest[0]


class NoiseInTraining(nn.Module):
    def forward(self, x):
        if self.training:
            x = x + torch.rand_like(x)
        return F.dropout(x, 0.5, self.training)


class KeywordCalls(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x, y):
        hidden = self.linear(input=x)
        return torch.add(hidden, other=y) + torch.where(x > 0, input=hidden, other=y)


class SliceOfSize(nn.Module):
    def forward(self, x, y):
        n = y.shape[0]
        return F.pad(x[:, n : n + 2 : n - 1], [n, 0])


class NestedOutput(nn.Module):
    def forward(self, x, y):
        total = x + y
        return {"all": (total, [x, total]), "last": y}


class ManyReaders(nn.Module):
    def forward(self, x):
        a = torch.sin(x)
        b = a * a
        c = a + b
        return torch.stack([a, b, c, a])


class Methods(nn.Module):
    def forward(self, x, scale=2.0):
        return x.mul(scale).sum(dim=0).add(x.mean())


def renamed() -> fx.GraphModule:
    """A graph module whose node names differ from those of a fresh trace."""
    graph = fx.Graph()
    x = graph.create_node("placeholder", "x", name="first")
    y = graph.create_node("call_function", torch.sin, (x,), name="second")
    z = graph.create_node("call_function", torch.add, (y, x), name="sin")
    graph.output(z)
    return fx.GraphModule(nn.Module(), graph)
