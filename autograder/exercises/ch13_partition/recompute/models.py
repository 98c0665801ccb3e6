"""Graph modules for `recompute` whose values have several readers."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import replace

import torch
from torch import fx, nn

from autograder.authoring.models import Trial
from autograder.exercises.ch13_partition.models import as_graph_module


class Readers(nn.Module):
    def forward(self, x):
        a = torch.sin(x)
        b = torch.cos(a)
        c = torch.neg(b)
        return torch.exp(b) + a * c


class Twice(nn.Module):
    """Two of the readers read it twice."""

    def forward(self, x):
        y = torch.sin(x)
        z = torch.add(y, other=y)
        w = torch.stack([y, z, y])
        return torch.where(w > 0, y, z)


class LateLink(nn.Module):
    """A chained value is not the first reader of the previous value."""

    def forward(self, x):
        a = torch.sin(x)
        z = torch.tanh(a)
        b = torch.cos(a)
        return z * b + torch.exp(b) * b


class BothOf(nn.Module):
    """A node reads a value, and another one computed from it."""

    def forward(self, x):
        a = torch.sin(x)
        b = torch.cos(a)
        c = torch.maximum(a, b)
        return torch.minimum(c, torch.stack([a, b, a]).sum(0))


class SideBySide(nn.Module):
    """The second reader of one value is the first of another."""

    def forward(self, x):
        a = torch.exp(x)
        b = torch.sin(x)
        c = torch.tanh(b)
        return b * a - c * torch.neg(a)


class OutputReads(nn.Module):
    """The output reads values that were read before, and a new one."""

    def forward(self, x):
        a = torch.sin(x)
        b = torch.cos(a)
        c = torch.tanh(x)
        return {"all": [a, (b, None)], "again": a, "c": c, "number": 3}


class Keywords(nn.Module):
    """Values are read as keywords, in lists and in slices."""

    def forward(self, x):
        a = torch.sin(x)
        n = a.size(0)
        b = torch.cat(tensors=[a, a.neg()], dim=0)
        return torch.add(input=b[:n], other=a, alpha=2) * torch.sum(a)


class Slices(nn.Module):
    """Each reader of a size uses it in a slice."""

    def forward(self, x):
        n = x.size(0)
        return torch.sin(x)[:n] + torch.cos(x)[0:n, :1]


class LayerReads(nn.Module):
    """A layer is the second reader of a value."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        y = torch.sin(x)
        return torch.cos(y) * self.layer(y)


class Layers(nn.Module):
    """Layers, of which one is called twice, parameters and a buffer."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.ones(3))
        self.layer = nn.Linear(3, 3)
        self.block = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

    def forward(self, x):
        y = self.layer(x) * self.scale
        z = self.block(y + self.shift)
        return self.layer(z).relu() + z * y - torch.sin(y)


class Unread(nn.Module):
    """Some values are not read."""

    def forward(self, x):
        a = torch.sin(x)
        torch.cos(a)
        b = torch.exp(a)
        torch.tanh(b)
        return a + b


def inserted() -> fx.GraphModule:
    """The first reader was inserted last, so `users` has another order than the graph."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    value = graph.call_function(torch.sin, (x,))
    late = graph.call_function(torch.cos, (value,))
    later = graph.call_function(torch.exp, (value,))
    with graph.inserting_before(late):
        early = graph.call_function(torch.tanh, (value,))
    graph.output((early, late, later))
    return fx.GraphModule(nn.Module(), graph)


# ------------------------------------------------------------------ random models

MOST_COPIES = 60


def copies_of(node: fx.Node, names: Collection[str]) -> int:
    """The number of nodes in a node's copy: itself, and copies of its inputs."""
    return 1 + sum(copies_of(read, names) for read in node.all_input_nodes if read.name in names)


def cost(gm: fx.GraphModule, names: Collection[str]) -> int:
    """An upper limit of the number of required copies."""
    return sum(
        copies_of(node, names) * len(node.users) for node in gm.graph.nodes if node.name in names
    )


def with_names(trial: Trial, choice: int) -> Trial:
    """The trial of a random model: its graph module, and some of its calls."""
    gm = as_graph_module(trial, choice)
    draw = random.Random(choice)
    names = [n.name for n in gm.graph.nodes if n.op.startswith("call_") and draw.random() < 0.6]
    draw.shuffle(names)
    while cost(gm, names) > MOST_COPIES:
        names.pop()
    return replace(trial, args=(gm, names), model=gm, noted=True)
