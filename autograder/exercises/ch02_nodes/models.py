"""Models of several exercises: small, each with one kind of node that is easy to overlook."""

from __future__ import annotations

import torch
from torch import fx, nn

# ------------------------------------------------------------------ all kinds of nodes


class AllSix(nn.Module):
    """A node of every opcode."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))
        self.proj = nn.Linear(3, 4)

    def forward(self, x, scale=2.0):
        hidden = self.proj(x + self.weight)
        return torch.tanh(hidden * scale).mean(dim=-1)


class Cell(nn.Module):
    """A submodule class of the course, so tracing enters it."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(3))
        self.act = nn.Sigmoid()

    def forward(self, x):
        return self.act(x * self.gain).abs()


class Nested(nn.Module):
    """Nodes from inside submodules, and one without readers."""

    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([Cell(), Cell()])

    def forward(self, x, *rest):
        for cell in self.cells:
            x = cell(x)
        x.neg()
        return {"out": x, "rest": rest}


def renamed() -> fx.GraphModule:
    """A graph module with its own node names; a fresh trace gives other names."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    first = graph.create_node("call_function", torch.exp, (x,), name="alpha")
    graph.create_node("call_function", torch.sin, (first,), name="beta")
    graph.create_node("call_method", "cos", (first,), name="gamma")
    graph.output(graph.create_node("call_method", "neg", (first,), name="delta"))
    return fx.GraphModule(nn.Module(), graph)


# ------------------------------------------------------------------ inputs of nodes


# ------------------------------------------------------------------ dead nodes


class TwoBranches(nn.Module):
    """Dead and useful nodes alternate; a dead node reads a useful one, but never the reverse."""

    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x, y):
        a = torch.exp(x)
        dead = a + y
        b = self.act(a)
        also_dead = dead * b
        dead.sub(also_dead)
        return b.abs()


class DeadTensorAndModule(nn.Module):
    """A parameter and a submodule that do not influence the result."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(3))
        self.used = nn.Linear(3, 3)
        self.unused = nn.BatchNorm1d(3)

    def forward(self, x, extra=None):
        self.unused(x * self.gain)
        return self.used(x)


class ThroughContainers(nn.Module):
    """Values that reach the output only through lists, slices, keywords and dictionaries."""

    def forward(self, x, y):
        listed = torch.stack([x.sin(), y.cos()])
        size = y.size(0)
        part = listed[:, : size - 1]
        bounded = torch.clamp(part, min=x.mean())
        unread = torch.stack([part, bounded])
        return {"a": [bounded, (x.exp(),)], "b": {"c": y.tan()}, "d": slice(None, unread.dim())}


class DeadPlaceholder(nn.Module):
    """Parameters without readers, and one with only a dead reader."""

    def forward(self, x, unread, half_read=2.0, *rest, **options):
        x * half_read
        return x.abs()


class Deep(nn.Module):
    """A dead chain within a submodule, and a diamond of useful nodes around it."""

    def __init__(self):
        super().__init__()
        self.one = DeadTensorAndModule()
        self.two = TwoBranches()

    def forward(self, x):
        left = self.one(x)
        right = self.two(x, left)
        lost = left.t()
        torch.stack([lost, lost])
        return left + right
