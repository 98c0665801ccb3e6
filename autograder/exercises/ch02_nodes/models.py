"""The models of chapter 02: small, each with one way of holding nodes that is easy to overlook."""

from __future__ import annotations

import operator

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


class Cell(nn.Module):
    """A submodule of our own: tracing goes through it."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(3))
        self.act = nn.Sigmoid()

    def forward(self, x):
        return self.act(x * self.gain).abs()


class Nested(nn.Module):
    """Nodes that come from inside submodules, and one that nobody reads."""

    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([Cell(), Cell()])

    def forward(self, x, *rest):
        for cell in self.cells:
            x = cell(x)
        x.neg()
        return {"out": x, "rest": rest}


def renamed() -> fx.GraphModule:
    """A graph module with names of its own; a fresh trace of it has other names."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    first = graph.create_node("call_function", torch.exp, (x,), name="alpha")
    graph.create_node("call_function", torch.sin, (first,), name="beta")
    graph.create_node("call_method", "cos", (first,), name="gamma")
    graph.output(graph.create_node("call_method", "neg", (first,), name="delta"))
    return fx.GraphModule(nn.Module(), graph)


def called_as_one() -> fx.GraphModule:
    """A graph module that calls a `Sequential`; a fresh trace of it calls what is inside."""
    graph = fx.Graph()
    graph.output(graph.call_module("layers", (graph.placeholder("x"),)))
    return fx.GraphModule({"layers": nn.Sequential(nn.Linear(3, 3), nn.ReLU())}, graph)


# ------------------------------------------------------------------ what nodes read


class SameTwice(nn.Module):
    """Nodes that read the same value more than once."""

    def forward(self, x, y):
        return torch.where(x > y, x, x) + (x * x)


class Keywords(nn.Module):
    """Nodes among keyword arguments, and a call without positional ones."""

    def forward(self, low, high, x):
        bounded = torch.clamp(x, min=low, max=high)
        return torch.add(other=bounded, input=high, alpha=2)


class Listed(nn.Module):
    """Nodes in a list and in a tuple."""

    def forward(self, a, b, c):
        return torch.stack([c, a, c, b]) + torch.cat((b, a))


class Sliced(nn.Module):
    """Nodes in slices, which stand in tuples."""

    def forward(self, x, start, stop, step):
        rows = x[stop:start:step]
        return rows[..., start:] + x[:, :stop]


class Aggregate(nn.Module):
    """Nodes in dictionaries, lists and tuples of the result."""

    def forward(self, a, b):
        total = a + b
        return {"pair": (b, total), "more": [{"deep": a}, total], "text": "ab", "none": None}


class Texts(nn.Module):
    """Strings, dtypes and other constants beside the nodes."""

    def forward(self, x, y, mode="mean"):
        product = torch.einsum("ij,kj->ik", y, x)
        return product.to(torch.float64).permute((1, 0)).unsqueeze(-1)[..., None, True]


class Constants(nn.Module):
    """Nodes without any input."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(2))

    def forward(self, x, size=(2, 3), *rest):
        return self.weight


def by_hand_nested() -> fx.GraphModule:
    """Nodes at every depth that FX allows, in an order unlike that of the graph."""
    graph = fx.Graph()
    a, b, c, d, e = (graph.placeholder(name) for name in "abcde")
    deep = (d, [c, {"k": (b, slice(None, a, None))}], c)
    first = graph.call_function(torch.cat, (deep, 0), {"first": [e, d], "last": {"z": a}})
    kwargs = {"z": slice(c, first, b), "y": {"q": [[[e]]], "p": (a,)}, "x": a}
    second = graph.call_function(torch.stack, ([], (), {}, slice(None)), kwargs)
    third = graph.call_method("index", ([(second, b)], b, second), {"value": first})
    graph.output({"all": [third, (second, {"inner": slice(None, e)})]})
    return fx.GraphModule(nn.Module(), graph)


def by_hand_wide() -> fx.GraphModule:
    """The same ways of nesting in another order and depth."""
    graph = fx.Graph()
    p, q, r = (graph.placeholder(name) for name in "pqr")
    item = graph.call_function(operator.getitem, (r, (slice(q, None, p), [[{"i": q}]], Ellipsis)))
    last = graph.call_method("foo", ((r, (r, [q])), [p], item), {"b": [item], "a": {"x": slice(p)}})
    graph.output([(last,), {"one": {"two": item}}, slice(r, last)])
    return fx.GraphModule(nn.Module(), graph)


# ------------------------------------------------------------------ what is of no use


class DeadChain(nn.Module):
    """A chain of dead nodes: only its end has no reader."""

    def forward(self, x):
        first = torch.exp(x)
        second = torch.sin(first)
        torch.cos(second)
        return first * 2


class AllAlive(nn.Module):
    """Nothing is dead."""

    def forward(self, x, y):
        return torch.exp(x) + y.neg()


class TwoBranches(nn.Module):
    """Dead and useful nodes take turns; a dead one reads a useful one and the reverse never."""

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
    """A parameter and a submodule of which nothing comes."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(3))
        self.used = nn.Linear(3, 3)
        self.unused = nn.Linear(3, 3)

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


class DeadPlaceholder(nn.Module):
    """Parameters that nothing reads, and one that only a dead node reads."""

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
