"""Graphs with some supported calls, and backends, for `partition`."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn
from torch.overrides import resolve_name

from autograder.authoring.models import Trial, fresh
from autograder.exercises.ch13_partition.models import as_graph_module, graph_module_of, tagged

# ------------------------------------------------------------------ backends


def _written(targets: tuple[Any, ...]) -> str:
    """Targets as code: a function by name, a method as a string."""

    def word(one: Any) -> str:
        if isinstance(one, str):
            return repr(one)
        return resolve_name(one) or f"{one.__module__.lstrip('_')}.{one.__name__}"

    words = [word(one) for one in targets]
    return f"({', '.join(words)}{',' * (len(words) == 1)})"


@dataclass(frozen=True, repr=False)
class Takes:
    """A backend that supports these operations: functions, and names of methods and modules."""

    targets: tuple[Any, ...]

    def __call__(self, node: fx.Node) -> bool:
        """Whether the backend supports the node's operation."""
        return node.target in self.targets

    def __repr__(self) -> str:
        return f"Takes({_written(self.targets)})"


@dataclass(frozen=True, repr=False)
class TakesAllBut:
    """A backend that supports every node except for these operations."""

    targets: tuple[Any, ...]

    def __call__(self, node: fx.Node) -> bool:
        """Whether the backend supports the node."""
        return node.target not in self.targets

    def __repr__(self) -> str:
        return f"TakesAllBut({_written(self.targets)})"


@dataclass(frozen=True)
class TakesNodes:
    """A backend that supports the nodes with these names.

    Attributes:
        names: names of call nodes.
        others: its answer for nodes that are not calls.
    """

    names: frozenset[str]
    others: bool = False

    def __call__(self, node: fx.Node) -> bool:
        """Whether the backend supports the node."""
        return node.name in self.names or (self.others and not node.op.startswith("call_"))


@dataclass(frozen=True)
class TakesLayers:
    """A backend that supports layers of a class, which it looks up in the node's module.

    Attributes:
        kind: the class.
    """

    kind: type[nn.Module]

    def __call__(self, node: fx.Node) -> bool:
        """Whether the node calls such a layer."""
        root = node.graph.owning_module
        return (
            node.op == "call_module"
            and root is not None
            and isinstance(root.get_submodule(str(node.target)), self.kind)
        )

    def __repr__(self) -> str:
        return f"TakesLayers({self.kind.__name__})"


@dataclass(frozen=True, eq=False)
class Offered:
    """Builds the trial of ``answer(gm, supported)``, without tracing ``gm`` again.

    Attributes:
        make: builds the model, or a graph module.
        supported: the backend.
    """

    make: Callable[[], nn.Module]
    supported: Callable[[fx.Node], bool]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        gm = tagged(graph_module_of(fresh(self.make, seed)))
        return Trial(args=(gm, self.supported), model=gm, noted=True)


# ------------------------------------------------------------------ few sets, and no cycle


class Around(nn.Module):
    """An unsupported call is between two supported ones."""

    def forward(self, x):
        return torch.relu(torch.sin(torch.relu(x)))


class Past(nn.Module):
    """Two calls are neighbors, and a detour leads from the first to the second."""

    def forward(self, x):
        a = torch.relu(x)
        b = torch.sin(a)
        return torch.maximum(a, b)


class LongDetour(nn.Module):
    """A detour of several nodes with a supported call."""

    def forward(self, x):
        a = torch.relu(x)
        b = torch.exp(torch.sin(a))
        c = torch.relu(b)
        d = torch.neg(torch.cos(c))
        return torch.maximum(a, torch.maximum(c, d))


class Apart(nn.Module):
    """Two independent branches."""

    def forward(self, x, y):
        return torch.relu(x).relu(), torch.sin(torch.relu(y)), torch.relu(x + y)


class OneAfterAnother(nn.Module):
    """Supported and unsupported calls alternate."""

    def forward(self, x):
        for _ in range(4):
            x = torch.sin(torch.relu(x))
        return x


class Crosswise(nn.Module):
    """Each branch ends with the operation that the other begins with."""

    def forward(self, x, y):
        a, b = torch.relu(x), torch.relu(y)
        c, d = torch.relu(torch.sin(b)), torch.relu(torch.sin(a))
        return c, d, torch.maximum(a, c), torch.maximum(b, d)


class ManyToOne(nn.Module):
    """Calls of different depths join at the end."""

    def forward(self, x, y, z):
        a = torch.relu(torch.sin(torch.relu(torch.sin(torch.relu(x)))))
        b = torch.relu(torch.sin(torch.relu(y)))
        c = torch.relu(z)
        return torch.maximum(torch.maximum(a, b), c)


# ------------------------------------------------------------------ nodes of every kind


class Keywords(nn.Module):
    """Values are read as keywords, in lists, dictionaries and slices."""

    def forward(self, x):
        a = torch.relu(x)
        n = torch.sin(a).size(0)
        b = torch.relu(a[:n])
        c = torch.cat(tensors=[b, torch.sin(b)], dim=0)
        d = torch.relu(input=torch.stack([torch.cos(c), c]))
        return {"d": d, "sum": torch.maximum(input=torch.relu(d), other=torch.sin(d))}


class InADictionary(nn.Module):
    """A layer takes a dictionary."""

    def __init__(self):
        super().__init__()
        self.same = nn.Identity()

    def forward(self, x):
        a = torch.relu(x)
        both = self.same({"a": torch.sin(a), "b": [a]})
        return torch.relu(both["a"]) + both["b"][0]


class Layers(nn.Module):
    """Layers, one called twice, parameters, a buffer, and methods."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.ones(3))
        self.layer = nn.Linear(3, 3)
        self.block = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

    def forward(self, x):
        y = self.layer(x) * self.scale
        z = self.block(y + self.shift)
        return self.layer(z.neg()).relu() + z * y - torch.sin(y)


class Parts(nn.Module):
    """A value is a tuple, and its items are read one by one."""

    def forward(self, x):
        left, right = torch.chunk(torch.relu(x), 2, dim=0)
        return torch.relu(left) * torch.relu(right.sin()), right


class Third(nn.Module):
    """The last of several inputs comes through a detour."""

    def forward(self, x, y):
        a, b = torch.relu(x), torch.relu(y)
        c = torch.cat([x, a, torch.sin(b)])
        return torch.where(c > 0, torch.cat([a, b, x]), torch.cos(c))


class OfParameters(nn.Module):
    """Unsupported calls read only an input or a parameter."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x, y):
        a = torch.relu(x)
        b = torch.relu(self.scale - 1)
        return a * b, torch.relu(y - 2)


class Unread(nn.Module):
    """Some values are not read."""

    def forward(self, x):
        a = torch.relu(x)
        torch.relu(torch.sin(a))
        b = torch.sin(a)
        torch.sin(b)
        torch.relu(b)
        return a


def with_foreign_names() -> fx.GraphModule:
    """A graph unlike any trace: other names, and a container as one call."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    first = graph.create_node("call_module", "block", (x,), name="step_7")
    shift = graph.create_node("get_attr", "shift", name="moved")
    second = graph.create_node("call_function", torch.sin, (first,), name="step_3")
    third = graph.create_node("call_method", "mul", (second, first), name="sin")
    last = graph.create_node("call_function", operator.add, (third, shift), name="block")
    graph.output((last, first, second))
    return fx.GraphModule(Layers(), graph)


def out_of_nothing() -> fx.GraphModule:
    """Two of the calls have no inputs."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    ones = graph.call_function(torch.ones, (3,))
    first = graph.call_function(torch.maximum, (x, ones))
    twos = graph.call_function(torch.full, ((3,), 2.0))
    between = graph.call_function(torch.sin, (twos,))
    graph.output(graph.call_function(torch.maximum, (first, between)))
    return fx.GraphModule(nn.Module(), graph)


def in_a_row(*calls: tuple[Callable[..., Any], int]) -> fx.GraphModule:
    """A chain with this many calls of each function."""
    graph = fx.Graph()
    value = graph.placeholder("x")
    for function, times in calls:
        for _ in range(times):
            value = graph.call_function(function, (value,))
    graph.output(value)
    return fx.GraphModule(nn.Module(), graph)


def long_row() -> fx.GraphModule:
    """1,500 calls in a row."""
    return in_a_row((torch.relu, 30), (torch.sin, 740), (torch.relu, 30), (torch.cos, 700))


class ManyDetours(nn.Module):
    """Forty detours in a row. Each one doubles the number of paths."""

    def forward(self, x):
        for _ in range(40):
            x = torch.maximum(torch.relu(x), torch.sin(x))
        return x


# ------------------------------------------------------------------ random models


def _depths(gm: fx.GraphModule) -> dict[str, int]:
    """The number of calls on the longest path to each call."""
    depth: dict[fx.Node, int] = {}
    for node in gm.graph.nodes:
        before = max((depth[read] for read in node.all_input_nodes), default=-1)
        depth[node] = before + node.op.startswith("call_")
    return {node.name: d for node, d in depth.items() if node.op.startswith("call_")}


def with_backend(trial: Trial, choice: int) -> Trial:
    """The trial of a random model: its graph module and a backend.

    Most backends support every second layer of calls, with exceptions, to get several sets.
    """
    gm = as_graph_module(trial, choice)
    draw = random.Random(choice)
    share, wide, first = draw.choice((0.0, 0.1, 0.2, 1.0)), draw.choice((1, 1, 2)), draw.random()
    names = set()
    for name, depth in _depths(gm).items():
        in_turn = (depth // wide + (first < 0.5)) % 2 == 1
        taken = draw.random() < 0.6 if draw.random() < share else in_turn
        if taken:
            names.add(name)
    supported = TakesNodes(frozenset(names), others=draw.random() < 0.3)
    return replace(trial, args=(gm, supported), model=gm, noted=True)
