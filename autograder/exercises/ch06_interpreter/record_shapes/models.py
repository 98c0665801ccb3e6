"""Models with nodes of every kind of value, for `record_shapes`."""

from __future__ import annotations

import operator

import torch
from torch import fx, nn


class LinearClamp(nn.Module):
    """A layer and a method."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 5)

    def forward(self, x):
        return self.linear(x).clamp(min=0.0, max=1.0)


class Defaults(nn.Module):
    """Parameters with default values."""

    def forward(self, x, scale=2.0, shift=None, power=(1, 2)):
        return x * scale, shift, power


class OneMore(nn.Module):
    """One further argument, and a result of one value: tuples of one item."""

    def forward(self, x, *rest):
        return (x * rest[0].sum(dim=0),)


class Unread(nn.Module):
    """Further arguments without readers, so there may be none."""

    def forward(self, x, *rest):
        return torch.relu(x)


class Numbers(nn.Module):
    """Values that are not tensors, and tensors without dimensions."""

    def forward(self, x):
        rows = x.size(0)
        total = torch.sum(x)
        torch._assert(rows > 0, "no rows")
        return total, rows, total.item(), x.is_floating_point()


class Parts(nn.Module):
    """Functions whose values are tuples and lists of tensors."""

    def forward(self, x):
        best = torch.topk(x, 2, dim=-1)
        pieces = torch.split(x, 2, dim=0)
        found = x.max(dim=0)
        return best[0] + pieces[0].sum(), found.indices, x.unbind(0)


class Containers(nn.Module):
    """A dictionary of lists and tuples, also with values that are not tensors."""

    def forward(self, x, y):
        total = x + y
        return {"pair": (x, total), "list": [{"deep": [y]}, "text", None], 3: 1.5, "empty": []}


class Shared(nn.Module):
    """A parameter, a buffer, and a nested module called on values of several shapes."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(3, 1))
        self.register_buffer("offset", torch.rand(()))
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.Tanh())

    def forward(self, x):
        x = self.inner(self.inner(x) * self.gain) + self.offset
        return self.inner(x.mean(dim=(0, 1)))


class OwnParameters(nn.Module):
    """Parameters, which are a subclass of tensors, among the values of a result."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(3))
        self.offset = nn.Parameter(torch.rand(()))

    def forward(self, x):
        return x * self.gain, self.gain, {"offset": [self.offset]}


class Arrays(nn.Module):
    """A NumPy array and a NumPy number, which both have an attribute `shape`."""

    def forward(self, x):
        array = x.numpy()
        return torch.relu(x), [array, array.sum()]


def renamed() -> fx.GraphModule:
    """A graph module with its own node names; a fresh trace gives other names."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    first = graph.create_node("call_function", torch.exp, (x,), name="alpha")
    second = graph.create_node("call_method", "sum", (first, 0), name="beta")
    last = graph.create_node("call_function", operator.mul, (first, second), name="gamma")
    graph.output((last, second))
    return fx.GraphModule(nn.Module(), graph)
