"""Graph modules for `peak_memory` whose values wait, share memory, or are unread."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import Trial, arguments, fresh
from autograder.exercises.ch13_partition.models import as_graph_module, graph_module_of, tagged
from autograder.models.running import filled, with_inputs


@dataclass(frozen=True, eq=False)
class Run:
    """Builds the trial of ``answer(gm, *inputs)``, without tracing ``gm`` again.

    Attributes:
        make: builds the model, or a graph module.
        inputs: the inputs, tensors as `T` or `Exactly`.
    """

    make: Callable[[], nn.Module]
    inputs: tuple[Any, ...]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        gm = tagged(graph_module_of(fresh(self.make, seed)))
        generator = torch.Generator().manual_seed(seed + 1)
        given = arguments(filled(self.inputs), generator, torch.float64)
        return Trial(args=(gm, *given), model=gm, inputs=(given,), noted=True)


class InARow(nn.Module):
    def forward(self, x):
        return torch.neg(torch.cos(torch.sin(x)))


class Backwards(nn.Module):
    """Reads first what it computed last."""

    def forward(self, x):
        a = torch.exp(x)
        b = torch.sin(a)
        c = torch.cos(b)
        return c + b + a


class Late(nn.Module):
    """Only the output reads the value."""

    def forward(self, x):
        a = torch.sin(x)
        b = torch.cos(x).sum()
        c = torch.neg(b)
        return c, {"kept": [a]}


class Small(nn.Module):
    """A slice keeps the whole tensor alive."""

    def forward(self, x):
        many = x.repeat(10, 1)
        one = many[:1]
        y = torch.sin(one)
        return torch.cos(y) + one


class Views(nn.Module):
    """Views of values that are alive anyway."""

    def forward(self, x):
        y = torch.sin(x)
        flat = y.reshape(-1)
        turned = y.t()
        wide = y[None].expand(7, -1, -1)
        return y.sum() + flat.sum() + turned.sum() + wide.sum()


class OfInputs(nn.Module):
    """Views of inputs and of a parameter, and results computed from them."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 3))
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x, parts):
        first = parts["first"].t()
        row = self.weight[0]
        view = x.view(-1)
        return torch.outer(row + self.shift, view).sum() + first.sum()


class Offsets(nn.Module):
    """A large unsaved buffer, and a view of it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.ones(4, 6), persistent=False)

    def forward(self, x):
        wide = x.repeat(2, 2)
        rows = self.table.view_as(wide)
        y = torch.sin(x)
        return torch.neg(y) + y, rows


class OwnTensors(nn.Module):
    """Returns rows of a parameter and a buffer."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(9, 3))
        self.register_buffer("shift", torch.ones(7, 3))

    def forward(self, x):
        return self.weight[: len(x)], self.shift


def of_a_layer() -> fx.GraphModule:
    """A layer that returns its own tensors."""
    root = nn.Module()
    root.own = OwnTensors()
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.sin, (x,))
    own = graph.call_module("own", (y,))
    rows = graph.call_function(operator.getitem, (own, 0))
    graph.output(graph.call_function(torch.add, (y, rows)))
    return fx.GraphModule(root, graph)


class Parts(nn.Module):
    """Calls that return several tensors, some of them unread."""

    def forward(self, x):
        values, index = torch.sort(x)
        best = torch.max(values, dim=-1)
        left, right = torch.chunk(index, 2, dim=-1)
        return best[0] + left.sum(-1), right


class TakenLate(nn.Module):
    """`getitem` reads one of two sorted tensors at once, and the other at the end."""

    def forward(self, x):
        found = torch.sort(x)
        first = found[0]
        wide = torch.cat([first, first, first])
        return wide, found[1]


class Unread(nn.Module):
    """A large unread value in the middle."""

    def forward(self, x):
        y = torch.sin(x)
        x.repeat(20, 1)
        z = torch.cos(y)
        return z.repeat(3, 1) + y.repeat(3, 1)


class Defaults(nn.Module):
    def forward(self, x, times=2, other=None):
        y = torch.sin(x)
        return torch.cat([y, y * times])


class Nested(nn.Module):
    """Returns tensors in a dictionary, a list and a tuple."""

    def forward(self, x):
        y = torch.sin(x)
        return {"all": [y, (torch.cos(x), y)], "flag": True, "large": x.repeat(*[4] * x.dim())}


def in_containers() -> fx.GraphModule:
    """A layer that returns its tensors in a dictionary."""
    root = nn.Module()
    root.nested = Nested()
    graph = fx.Graph()
    x = graph.placeholder("x")
    found = graph.call_module("nested", (x,))
    every = graph.call_function(operator.getitem, (found, "all"))
    first = graph.call_function(operator.getitem, (every, 0))
    graph.output(graph.call_function(torch.neg, (first,)))
    return fx.GraphModule(root, graph)


def with_foreign_names() -> fx.GraphModule:
    """A graph unlike any trace."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    first = graph.create_node("call_function", torch.sin, (x,), name="step_9")
    second = graph.create_node("call_function", torch.cos, (x,), name="step_1")
    both = graph.create_node("call_function", torch.stack, ([first, second],), name="sin")
    graph.output(both)
    return fx.GraphModule(nn.Module(), graph)


def on_a_graph_module(trial: Trial, choice: int) -> Trial:
    """The trial of a random model: its graph module and inputs."""
    trial = with_inputs(trial, choice)
    gm = as_graph_module(trial, choice)
    (inputs,) = trial.inputs
    return replace(trial, args=(gm, *inputs), model=gm, noted=True)
