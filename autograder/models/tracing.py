"""Models for `node_names` and `node_table`, and functions for `specialize`."""

# A learner sees these classes as they stand here; their names say what they are for.
# ruff: noqa: D101, D103

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import fx, nn

# ------------------------------------------------------------------ names and edges


class ReluPlusOne(nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1


class TanhTwice(nn.Module):
    def forward(self, x):
        return torch.tanh(torch.tanh(x) * 2)


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


class NestedTensors(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Scale()
        self.register_buffer("shift", torch.rand(3))

    def forward(self, x):
        return self.first(x) + self.shift


class UnusedParts(nn.Module):
    def forward(self, x, unused):
        torch.sin(x)  # nobody reads this value
        return x.cos()


class StarArguments(nn.Module):
    def forward(self, x, *rest, **options):
        return x + rest[0]


class NoiseInTraining(nn.Module):
    def forward(self, x):
        if self.training:
            x = x + torch.rand_like(x)
        return F.dropout(x, 0.5, self.training)


class NestedList(nn.Module):
    def forward(self, x, y):
        return torch.cat([x + x, y, y], dim=1)


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
        return F.pad(x[:, n : n + 2], [n, 0])


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
    """A graph module whose nodes have other names than a fresh trace gives them."""
    graph = fx.Graph()
    x = graph.create_node("placeholder", "x", name="first")
    y = graph.create_node("call_function", torch.sin, (x,), name="second")
    z = graph.create_node("call_function", torch.add, (y, x), name="sin")
    graph.output(z)
    return fx.GraphModule(nn.Module(), graph)


# ------------------------------------------------------------------ for specialize


def relu_or_neg(x, flag):
    return torch.relu(x) if flag else -x


def mean_or_max(x, weights=None, largest=False):
    if weights is not None:
        x = x * weights
    return x.amax(dim=-1) if largest else x.mean(dim=-1)


def weighted(x, weights=None, scale=2.0):
    if weights is not None:
        x = x * weights
    return x * scale


def activate(x, kind):
    return torch.tanh(x) if kind == "tanh" else torch.sin(x)


def contract(x, y, equation):
    return torch.einsum(equation, x, y)


def repeat(x, n):
    for _ in range(n):
        x = x * 2 + 1
    return x


def capped(x, limit, low=-1.0):
    return x.clamp(min=low, max=limit)


def with_value(x, value):
    return x * 2, value


def many(flag, x, mode, scale=0.5, shift=None, n=1):
    if mode == "twice":
        x = x * 2
    if shift is not None:
        x = x + shift
    return repeat(x, n) * scale if flag else x


def unread(x, unused, flag, spare=None, label="none"):
    return x + 1 if flag else x - 1


def flags(x, flag, flag_1):
    return x + flag_1 if flag else x - flag_1


def flags_in_a_row(x, flag_1, flag, flag_1_1, flag_2=3.0):
    if flag:
        x = x + flag_1
    return x * flag_1_1 - flag_2


def steps(x, n, n_steps, n_steps_done=0.0):
    for _ in range(n):
        x = x * n_steps
    return x + n_steps_done


def matrix_only(x, flag):
    torch._assert(x.dim() == 2, "x must be a matrix")
    return x.t() if flag else x


def equal_sizes(x, y, flag=None):
    same = x.shape == y.shape if flag else x.shape[0] == y.shape[0]
    torch._assert(same, "x and y must fit")
    return x + y


def told(x, flag=True):
    torch._assert(x.dim() == 2, "flag needs a matrix")
    return x if flag else -x


def doubled(x, flag=True):
    y = x.sin()
    y.mul_(2)  # nobody reads this value
    return y if flag else -y


def kept(x, flag=True, keep=False):
    return (x if flag else -x) * keep


def bounded(x, flag, limit=float("inf")):
    return x.clamp(max=limit) if flag else x


def builtin_names(input, flag, max=1.5):
    return input * max if flag else input


def with_local(x, scale=2.0):
    hidden = x * scale
    return hidden + 1


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        self.bias = nn.Parameter(torch.rand(3))

    def forward(self, x, act=True, scale=1.0):
        x = self.inner(x) if act else self.inner[0](x)
        return x * scale + self.bias


class Shifted(nn.Module):
    def forward(self, x, scale, shift=1.0):
        return x * scale + shift


def shifted() -> fx.GraphModule:
    """A model that is a graph module already."""
    return fx.symbolic_trace(Shifted())


class ReluIfFlag(nn.Module):
    def forward(self, x, flag=False):
        return x.relu() if flag else x


class Smooth(nn.Module):
    def forward(self, x, rounds, scale=0.5):
        y = x.clone()
        for _ in range(rounds):
            torch.neg_(y)
            y.mul_(scale)
        return y
