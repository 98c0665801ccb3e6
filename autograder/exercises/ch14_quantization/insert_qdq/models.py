"""Models for `insert_qdq`, and the scales of some of their values."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101, D102

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.models import Trial, renamed
from autograder.exercises.ch14_quantization.models import GIVEN, floats, mark, traced
from autograder.given import dequantize, quantize


class OneRelu(nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        return self.linear(x).tanh() * 2


class TwoReaders(nn.Module):
    def forward(self, x):
        y = torch.sin(x)
        return y.neg() + torch.cos(y)


class TwoInputs(nn.Module):
    def forward(self, x, y, scale=2.0):
        return x * y - x / scale


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.inner.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        y = self.inner(x * self.weight)
        return self.inner(y + self.inner.shift) * self.weight


class Anchored(nn.Module):
    """Two nodes read the same buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("anchor", torch.ones(3))

    def forward(self, x):
        return (x - self.anchor).tanh() + self.anchor


class Unread(nn.Module):
    def forward(self, x):
        torch.exp(x)
        torch.cos(x)
        return torch.sin(x)


class ChangedLater(nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        z = y.view(-1)
        y.add_(1)
        return z.cos(), y


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 3))

    def forward(self, x):
        y = F.linear(input=x, weight=self.weight)
        return F.pad(y, [1, 0], value=0.5).clamp(min=-1, max=torch.relu(y).sum())


class InPart(nn.Module):
    """Some values are quantized and dequantized already."""

    def forward(self, x):
        y = dequantize(quantize(torch.sin(x), 0.01), 0.01)
        z = torch.cos(y)
        return z * dequantize(quantize(z, 0.02), 0.02)


def odd_names() -> fx.GraphModule:
    """A graph whose node names do not come from a trace."""
    graph = fx.Graph()
    x = graph.create_node("placeholder", "x", name="quantize")
    first = graph.create_node("call_function", torch.sin, (x,), name="output")
    second = graph.create_node("call_function", torch.add, (first, x), name="dequantize_1")
    third = graph.create_node("call_method", "neg", (second,), name="relu_3")
    graph.create_node("output", "output", ((third, first),), name="result")
    return fx.GraphModule(nn.Module(), graph)


def with_scales(trial: Trial, choice: int) -> Trial:
    """A trial with a graph module and the scales of some of its values."""
    gm = traced(trial.model)
    if choice % 3 == 0:
        renamed(gm)
    mark(gm)
    found = [name for name, value in _values(gm, trial.inputs[0]).items() if floats(value)]
    every = choice % 4 + 1
    chosen = [name for i, name in enumerate(found) if i % every == choice % every]
    scales = {name: 0.01 * 4 ** min(i, 100) for i, name in enumerate(reversed(chosen))}
    return replace(trial, args=(gm, scales), model=gm, functions={**trial.functions, **GIVEN})


def _values(gm: fx.GraphModule, inputs: tuple[Any, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}

    class Noting(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            value = super().run_node(n)
            if n.op != "output":
                found[n.name] = value
            return value

    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        Noting(copy.deepcopy(gm)).run(*copy.deepcopy(inputs))
    return found
