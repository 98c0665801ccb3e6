"""Graph modules for `lower`, sets of their nodes, and a compiler."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

from autograder.authoring.models import Trial, arguments, fresh
from autograder.exercises.ch13_partition.models import as_graph_module, graph_module_of

# ------------------------------------------------------------------ the compiler


class Compiled(nn.Module):
    """A compiled module."""

    def __init__(self, sub):
        super().__init__()
        self.sub = sub

    def forward(self, *values):
        return self.sub(*values)


def compiler(sub, examples):
    """Compile a graph module: the result computes the same as `sub`."""
    return Compiled(sub)


# ------------------------------------------------------------------ meta of nodes


def annotated(
    gm: fx.GraphModule, inputs: tuple[Any, ...], without: Collection[str] = ()
) -> fx.GraphModule:
    """Add a mark and an example value to the `meta` of each node.

    Args:
        gm: the graph module; it runs on a copy of the inputs.
        inputs: its arguments.
        without: names of nodes that get an ``example_value`` instead of a ``val``.
    """
    values: dict[str, Any] = {}

    class Noting(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            values[n.name] = super().run_node(n)
            return values[n.name]

    with torch.no_grad():
        Noting(copy.deepcopy(gm)).run(*copy.deepcopy(inputs))
    for i, node in enumerate(gm.graph.nodes):
        if node.op == "output":
            continue
        node.meta["mark"] = f"made for {node.name}"
        node.meta["place"] = (i, [i + 1])
        key = "example_value" if node.name in without else "val"  # not a valid example
        node.meta[key] = copy.deepcopy(values[node.name])
    return gm


@dataclass(frozen=True, eq=False)
class Divided:
    """Builds the trial of ``answer(gm, parts, compile)``, without tracing ``gm`` again.

    Attributes:
        make: builds the model, or a graph module.
        parts: names of nodes, a tuple for each set.
        inputs: argument tuples for the result, tensors as `T`; the first one gives the example
            values.
        without: names of nodes without an example value.
        training: whether the module is in train mode.
    """

    make: Callable[[], nn.Module]
    parts: tuple[tuple[str, ...], ...]
    inputs: tuple[tuple[Any, ...], ...]
    without: tuple[str, ...] = ()
    training: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        gm = graph_module_of(fresh(self.make, seed))
        if self.training:
            gm.train()
        generator = torch.Generator().manual_seed(seed + 1)
        given = tuple(arguments(specs, generator, torch.float64) for specs in self.inputs)
        annotated(gm, given[0], self.without)
        parts = [set(names) for names in self.parts]
        return Trial(args=(gm, parts, compiler), model=gm, inputs=given, noted=True)


# ------------------------------------------------------------------ passed values


class Chain(nn.Module):
    def forward(self, x):
        return torch.tanh(torch.cos(torch.sin(torch.exp(x))))


class SeveralOut(nn.Module):
    """Three middle values are read elsewhere, one of them twice."""

    def forward(self, x, y):
        a = torch.sin(x)
        b = torch.cos(a + y)
        c = torch.tanh(b * a)
        return a - b, torch.exp(c), c


class UnequalInputs(nn.Module):
    """Inputs of different shapes; the middle reads two, one of them twice."""

    def forward(self, x, rows, unread=None, scale=2.0):
        a = torch.sin(rows)
        b = torch.maximum(a, x)
        c = b * scale
        return torch.minimum(c, x).sum(), a


class Detour(nn.Module):
    """In graph order, a reader of the first member comes between two members."""

    def forward(self, x):
        a = torch.sin(x)
        b = torch.exp(a)
        c = torch.cos(a)
        d = torch.tanh(b)
        return d + c


class LateNeed(nn.Module):
    """The first member of a set precedes an input of the last member."""

    def forward(self, x, y):
        a = torch.sin(x)
        b = torch.exp(y)
        c = torch.neg(b)
        d = torch.maximum(torch.cos(a), c)
        return d, b


class Crossed(nn.Module):
    """Sets that read one another, without a cycle."""

    def forward(self, x, y):
        a, b = torch.sin(x), torch.cos(y)
        c = torch.maximum(a, b.exp())
        d = torch.minimum(b, torch.tanh(a))
        return torch.sin(c), torch.cos(d) - c


class Circle(nn.Module):
    """Three pairs: each could be a set, and any two, but not all three."""

    def forward(self, x, y, z):
        a, b, c = torch.sin(x), torch.cos(y), torch.tanh(z)
        d = torch.maximum(a, torch.exp(b))
        e = torch.minimum(b, torch.neg(c))
        f = torch.sub(c, torch.relu(a))
        return d, e, f


class Apart(nn.Module):
    """Two independent branches."""

    def forward(self, x, y):
        return torch.sin(x).exp(), torch.cos(y).tanh(), x * y


class Twins(nn.Module):
    """Equal calls, which are different nodes."""

    def forward(self, x):
        a, b = torch.sin(x), torch.sin(x)
        c = torch.cos(a) + torch.cos(b)
        return c, torch.tanh(b), torch.tanh(a), a


class AllReturned(nn.Module):
    """The set returns exactly the model's results."""

    def forward(self, x):
        a = torch.sin(x)
        return a, torch.cos(a)


# ------------------------------------------------------------------ nodes of every kind


class Keywords(nn.Module):
    """Values are read as keywords, in lists and in slices; one is a number."""

    def forward(self, x):
        a = torch.sin(x)
        n = a.size(0)
        b = torch.cat(tensors=[a, a.neg()], dim=0)
        c = torch.add(input=b[:n], other=a, alpha=2)
        return torch.stack([c, torch.tanh(input=c)]).sum(0)


class Parts(nn.Module):
    """A value is a tuple."""

    def forward(self, x):
        left, right = torch.chunk(x.exp(), 2, dim=0)
        return left * right.sin(), right.sum()


class Unread(nn.Module):
    """Some values are not read."""

    def forward(self, x):
        a = torch.sin(x)
        torch.cos(a)
        b = torch.exp(a)
        torch.tanh(b)
        return a + b


class Layers(nn.Module):
    """Nested layers; one of them is called twice."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.block = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.BatchNorm1d(3))

    def forward(self, x):
        y = self.layer(x)
        z = self.block(y).relu()
        return self.layer(z) + F.gelu(y)


# ------------------------------------------------------------------ parameters and buffers


class OneScale(nn.Module):
    """A parameter that only one set reads."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return torch.tanh(torch.sin(x) * self.scale)


class Scales(nn.Module):
    """Parameters and a buffer, some in submodules, read in several places."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.inner = nn.Sequential(nn.Linear(3, 3))
        self.inner.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        a = torch.sin(x * self.scale)
        b = torch.cos(a + self.inner.shift)
        c = self.inner(b) * self.scale
        return torch.tanh(c) - self.inner.shift


class SharedWeights(nn.Module):
    """A parameter with two names, read twice, and a layer whose weight is read, too."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.first = nn.Parameter(torch.ones(3))
        self.second = self.first

    def forward(self, x):
        a = torch.sin(x) * self.first
        b = F.linear(torch.cos(a), self.layer.weight)
        return self.layer(b * self.second)


def read_twice() -> fx.GraphModule:
    """Two nodes read the same parameter; a set reads one of them, other calls the second."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    first = graph.create_node("get_attr", "scale", name="scale_a")
    a = graph.create_node("call_function", torch.mul, (x, first), name="mul_a")
    second = graph.create_node("get_attr", "scale", name="scale_b")
    b = graph.create_node("call_function", torch.mul, (a, second), name="mul_b")
    graph.output(graph.call_function(torch.tanh, (b,)))
    return fx.GraphModule(OneScale(), graph)


# ------------------------------------------------------------------ names

WORDS = (
    "fused lowered compiled part partition piece sub submod submodule module mod region segment "
    "block backend engine graph group set subgraph call lower new set_call compiled_set"
).split()
ENDINGS = ("", "_0", "_1", "0", "1", "_sin", "_cos", "_layer")


TAKEN = [word + ending for word in WORDS for ending in ENDINGS]
TAKEN.remove("graph")  # an attribute of every graph module


class Occupied(nn.Module):
    """Layers that are called outside of the sets have many of the likely names."""

    def __init__(self):
        super().__init__()
        for name in TAKEN:
            self.add_module(name, nn.Identity())
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        y = torch.cos(self.layer(x))
        for name, layer in self.named_children():
            if name != "layer":
                y = layer(y)
        return torch.sin(y)


class OccupiedByBuffers(nn.Module):
    """Buffers that are read outside of the sets have many of the likely names."""

    def __init__(self):
        super().__init__()
        for name in TAKEN:
            self.register_buffer(name, torch.ones(3))

    def forward(self, x):
        y = torch.sin(x)
        for value in self.buffers():
            y = y + value
        return torch.cos(y)


# ------------------------------------------------------------------ random models


def in_some_order(gm: fx.GraphModule, draw: random.Random) -> list[fx.Node]:
    """The nodes in a random topological order."""
    waiting = {node: len(node.all_input_nodes) for node in gm.graph.nodes}
    ready = [node for node, count in waiting.items() if not count]
    found = []
    while ready:
        node = ready.pop(draw.randrange(len(ready)))
        found.append(node)
        for user in node.users:
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    return found


def _is_read(names: set[str], nodes: Iterable[fx.Node]) -> bool:
    """Whether a node outside of a set reads one of its values."""
    members = (node for node in nodes if node.name in names)
    return any(user.name not in names for node in members for user in node.users)


def with_parts(trial: Trial, choice: int) -> Trial:
    """The trial of a random model: its graph module, and sets of consecutive calls.

    The calls are consecutive in a possible order of execution, so no set waits for another.
    """
    gm = as_graph_module(trial, choice)
    draw = random.Random(choice)
    every = [node.name for node in gm.graph.nodes if node.op != "output"]
    without = [name for name in every if draw.random() < 0.15]
    annotated(gm, trial.inputs[0], without)
    calls = [node.name for node in in_some_order(gm, draw) if node.op.startswith("call_")]
    parts, end = [], len(calls)
    while end > 0:
        start = max(0, end - draw.choice((1, 2, 2, 3, 4, 6)))
        names = set(calls[start:end])
        if draw.random() < 0.75 and _is_read(names, gm.graph.nodes):
            parts.append(names)
        end = start
    draw.shuffle(parts)
    return replace(trial, args=(gm, parts, compiler), model=gm, noted=True)
