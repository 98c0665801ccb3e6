"""Graph modules for `refresh_meta` with all kinds of values, and the report."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

from autograder.authoring.models import (
    Trial,
    arguments,
    fake_tensor_mode,
    fresh,
    leave_modes,
    modes_entered,
    renamed,
)
from autograder.exercises.ch12b_metadata.models import notes_of, vals_of

Make = Callable[[], nn.Module]
aten = torch.ops.aten


@dataclass(frozen=True, eq=False)
class Refreshing:
    """Builds the objects of a case.

    Attributes:
        make: builds the model, or a graph module.
        inputs: inputs of the graph module, tensors as `T`.
        training: whether the model is in training mode.
        prepare: converts the inputs.
        worn: whether `meta` has entries before.
        times: number of calls of the answer.
    """

    make: Make
    inputs: tuple[Any, ...]
    training: bool = False
    prepare: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None
    worn: bool = False
    times: int = 1

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, training=self.training, dtype=torch.float32)
        generator = torch.Generator().manual_seed(seed + 1)
        inputs = arguments(self.inputs, generator, torch.float32)
        gm = graph_module_of(model)
        if self.worn:
            wear(gm, seed)
        return about(model, gm, self.prepare(inputs) if self.prepare else inputs, self.times)


def graph_module_of(model: nn.Module) -> fx.GraphModule:
    """The trace of a model, or a graph module unchanged."""
    return model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)


def about(model: nn.Module, gm: fx.GraphModule, inputs: tuple[Any, ...], times: int = 1) -> Trial:
    """The trial of a graph module, its model and inputs."""
    return Trial(
        args=(Asked(gm, inputs, times),),
        model=model,
        inputs=(copy.deepcopy(inputs),),
        watch=(gm, inputs),
    )


def wear(gm: fx.GraphModule, number: int) -> None:
    """Add entries to the `meta` of each node; some get an outdated `val`."""
    mode = fake_tensor_mode()()
    for i, node in enumerate(gm.graph.nodes):
        node.meta["mark"] = f"made as number {i}"
        node.meta["custom"] = {"place": [i, node.op]}
        if node.op != "output" and (i + number) % 2:
            with mode:
                node.meta["val"] = torch.empty(7, i + 1, dtype=torch.float16)


@dataclass(frozen=True, eq=False)
class Asked:
    """Calls the answer with a graph module and inputs, and reports on `meta`."""

    gm: fx.GraphModule
    inputs: tuple[Any, ...]
    times: int = 1

    @property
    def says(self) -> str:
        """The call, for a card."""
        often = "" if self.times == 1 else f", {self.times} times"
        return f"{{name}}(gm, *inputs){often}, where gm is the graph module of the model"

    @property
    def outputs(self) -> list[str]:
        """The output, whose `val` is optional."""
        return [node.name for node in self.gm.graph.nodes if node.op == "output"]

    def __call__(self, answer: Any) -> Callable[..., Any]:
        """Call the answer; the run then returns the report."""
        entered, drawn = modes_entered(), torch.get_rng_state()
        try:
            for _ in range(self.times):
                result = answer(self.gm, *self.inputs)
        finally:
            left = leave_modes(entered)
        found = {
            "nothing": result is None,
            "modes": left,
            "random": torch.equal(drawn, torch.get_rng_state()),
            "vals": [(name, val) for name, val in vals_of(self.gm) if name not in self.outputs],
            "notes": notes_of(self.gm),
        }
        return lambda *_: found


# ------------------------------------------------------------------ kinds of nodes


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        return torch.relu(self.linear(x)).sum(dim=-1)


class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(3, 2)
        self.act = nn.Tanh()

    def forward(self, x):
        return torch.cat([self.act(self.embed(x)), x], dim=1).mean(dim=0)


class Attributes(nn.Module):
    """Reads parameters and buffers, including those of submodules."""

    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("mask", torch.ones(3, dtype=torch.bool))

    def forward(self, x):
        y = F.linear(x, self.block[0].weight, self.block[0].bias)
        return torch.where(self.mask, self.block(y) * self.scale, x)


def a_block_as_one_layer() -> fx.GraphModule:
    """Call a module that contains modules as one layer."""
    root = nn.Module()
    root.block = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    graph = fx.Graph()
    graph.output(graph.call_module("block", (graph.placeholder("x"),)))
    return fx.GraphModule(root, graph)


def first_column(layer: nn.Module, args: tuple[Any, ...], value: torch.Tensor) -> torch.Tensor:
    """A hook that keeps one column of the layer's result."""
    return value[:, :1]


class Hooked(nn.Module):
    """A hook changes the layer's result in every call."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.linear.register_forward_hook(first_column)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Counts(nn.Module):
    """Counts its calls in a buffer that is not saved."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()), persistent=False)

    def forward(self, x):
        self.calls.add_(1)
        return x * self.calls


def a_layer_that_counts() -> fx.GraphModule:
    """Call a layer that counts its calls as one node."""
    root = nn.Module()
    root.count = Counts()
    graph = fx.Graph()
    graph.output(graph.call_module("count", (graph.placeholder("x"),)))
    return fx.GraphModule(root, graph)


class Kinds(nn.Module):
    """Values of several dtypes."""

    def forward(self, x):
        half = x.half()
        positive = x > 0
        index = x.argmax(dim=-1)
        return half * positive, index + 1, x.double(), x.to(torch.bfloat16).sum()


class Numbers(nn.Module):
    """Most values are not tensors."""

    def forward(self, x):
        rows, columns = x.size(0), x.shape[1]
        kind = x.dtype
        y = torch.arange(6, dtype=torch.float32).reshape(2, 3) * (rows / columns)
        return y.to(kind), x.shape, x.dim() > 1, x.stride(), x.device


class Defaults(nn.Module):
    def forward(self, x, scale=2.0, other=None, flag=True):
        return torch.sin(x) * scale


# ------------------------------------------------------------------ nested values


class Nested(nn.Module):
    """Several tensors at once, in nested tuples."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTM(3, 4)

    def forward(self, x):
        y, state = self.cell(x)
        best = torch.max(y, dim=-1)
        left, _, right = y.split([1, 2, 1], dim=-1)
        return best[0], torch.sort(left, stable=True), state[1] + right.sum()


class InContainers(nn.Module):
    """Returns tensors in a dictionary and a list, with other values."""

    def forward(self, x):
        y = torch.sin(x)
        return {"all": [y, (y.t(), 1.5)], "none": None, "name": "y"}


def in_containers() -> fx.GraphModule:
    """Call a layer that returns a dictionary."""
    root = nn.Module()
    root.nested = InContainers()
    graph = fx.Graph()
    found = graph.call_module("nested", (graph.placeholder("x"),))
    every = graph.call_function(operator.getitem, (found, "all"))
    first = graph.call_function(operator.getitem, (every, 0))
    graph.output(graph.call_function(torch.neg, (first,)))
    return fx.GraphModule(root, graph)


class TakesApart(nn.Module):
    """Takes a nested input."""

    def forward(self, x, parts):
        return x + parts["first"].sum(), parts["more"][1] * 2


# ------------------------------------------------------------------ strides, and what changes


class Strides(nn.Module):
    """Views, some of them not contiguous."""

    def forward(self, x):
        turned = x.t()
        wide = x.unsqueeze(0).expand(4, -1, -1)
        part = x[:, ::2]
        return turned + 1, wide, part, turned.contiguous(), torch.empty_like(turned)


class Lengthened(nn.Module):
    """Resizes a value after it was computed."""

    def forward(self, x):
        y = torch.sin(x)
        z = y * 2
        y.unsqueeze_(0)
        return y + z


class PartsLengthened(nn.Module):
    """Resizes parts of an input after the graph has read them."""

    def forward(self, x, parts):
        first, second = parts["first"], parts["more"][1]
        y = x + first * second
        first.unsqueeze_(0)
        second.t_()
        return y, first, second


class FirstLengthened(nn.Module):
    """Resizes one of two inputs before the other is read."""

    def forward(self, x, y):
        x.unsqueeze_(0)
        return torch.cos(y)


def buffers_in_place() -> fx.GraphModule:
    """Write to buffers and resize them in the graph, with nodes that no trace has."""
    root = nn.Module()
    root.register_buffer("shift", torch.ones(3))
    root.register_buffer("calls", torch.zeros(()))
    graph = fx.Graph()
    x, shift, calls = graph.placeholder("x"), graph.get_attr("shift"), graph.get_attr("calls")
    graph.call_method("add_", (calls, 1))
    longer = graph.call_method("unsqueeze_", (shift, 0))
    product = graph.call_function(torch.mul, (x, calls))
    graph.output(graph.call_function(torch.add, (product, longer)))
    return fx.GraphModule(root, graph)


# ------------------------------------------------------------------ nothing is computed


class Terabytes(nn.Module):
    """Makes large values from a few numbers."""

    def forward(self, x):
        wide = x.sum().expand(2_000_000, 3_000_000)
        y = wide * 2 + x[0, 0]
        return y.sum(0) @ y.t(), y.mean()


def made_of_nothing() -> fx.GraphModule:
    """Make some tensors without other tensors."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    steps = graph.call_function(torch.arange, (3,), {"dtype": torch.float32})
    many = graph.call_function(torch.zeros, (3_000_000, 2_000_000))
    corner = graph.call_function(operator.getitem, (many, (slice(2), slice(3))))
    both = graph.call_function(torch.add, (x, steps))
    graph.output(graph.call_function(torch.add, (both, corner)))
    return fx.GraphModule(nn.Module(), graph)


# ------------------------------------------------------------------ inputs


def turned(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Transpose the first input, which makes it non-contiguous."""
    first, *others = inputs
    return (first.t(), *others)


def twice(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Pass the first input for both parameters."""
    return (inputs[0], inputs[0])


def in_a_dictionary(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Put all inputs except the first into a dictionary."""
    first, second, *others = inputs
    return (first, {"first": second, "more": [None, *others]})


# ------------------------------------------------------------------ random models


def of_random_model(trial: Trial, choice: int) -> Trial:
    """The trial of a random model: its graph module, and inputs."""
    assert trial.model is not None
    if isinstance(trial.model, fx.GraphModule) and choice % 4 > 1:
        renamed(trial.model)
    gm = graph_module_of(trial.model)
    wear(gm, choice)
    inputs = trial.inputs[-(choice % 4 == 1)]
    return replace(about(trial.model, gm, inputs), functions=trial.functions)
