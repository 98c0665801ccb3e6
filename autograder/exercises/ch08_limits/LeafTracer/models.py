"""Nested modules for `LeafTracer`: which of them does the tracer open?"""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn
from torch.ao.nn import quantizable

from autograder.authoring.models import Trial, fresh

Make = Callable[[], nn.Module]


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x, scale=1.0):
        return torch.sigmoid(self.lin(x)) * x * scale


class OtherGate(Gate):
    """A subclass."""


class Shift(nn.Module):
    def forward(self, x):
        return x + 1


class LastGate(OtherGate):
    """A subclass of a subclass."""


class OwnLinear(nn.Linear):
    """FX opens it: only the classes of `torch.nn` itself are its leaves."""


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.shift = Shift()

    def forward(self, x):
        return self.shift(self.gate(x)).tanh()


class Two(nn.Module):
    """One gate at the top, and one inside a block."""

    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.block = Block()

    def forward(self, x):
        return self.block(self.gate(x)) - x


class Kinds(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = OtherGate()
        self.second = Gate()
        self.shift = Shift()

    def forward(self, x):
        return self.shift(self.first(x)) + self.second(x, scale=2.0)


class Descended(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = LastGate()

    def forward(self, x):
        return self.gate(x).cos()


class OtherRooms(nn.Module):
    """Layers of PyTorch whose classes are not in `torch.nn.modules`."""

    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.normed = nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))
        self.cell = quantizable.LSTMCell(3, 3)

    def forward(self, x):
        x = self.normed(self.gate(x))
        return self.cell(x, (x.sin(), x.cos()))[0]


class Numbered(nn.Module):
    """Names that begin or end alike, or differ only by a dot."""

    def __init__(self):
        super().__init__()
        self.gate_1 = Gate()
        self.layers = nn.ModuleDict({"1": Gate(), "10": Shift(), "gate": Gate()})
        self.gate = Shift()
        self.Gate = Gate()
        self.layers_1, self.layers_10 = Gate(), Shift()

    def forward(self, x):
        x = self.layers_10(self.layers_1(x))
        x = self.layers["10"](self.layers["1"](x))
        return self.layers["gate"](self.gate_1(x)) + self.gate(self.Gate(x))


class Layers(nn.Module):
    """Layers of PyTorch, a subclass of one, and a Sequential."""

    def __init__(self):
        super().__init__()
        self.own = OwnLinear(3, 3)
        self.body = nn.Sequential(nn.Linear(3, 3), Shift(), nn.Sequential(nn.ReLU(), Gate()))
        self.act = nn.Tanh()

    def forward(self, x):
        return self.act(self.body(self.own(x)))


class Door:
    class Gate(nn.Module):
        """A different class with the same name."""

        def forward(self, x):
            return x.cos()


class Namesakes(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Gate()
        self.second = Door.Gate()

    def forward(self, x):
        return self.second(self.first(x))


class Reaches(nn.Module):
    """Calls a module inside a block, but not the block."""

    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block.shift(self.block.gate(x))


class Traced(nn.Module):
    """One child is a graph module."""

    def __init__(self):
        super().__init__()
        self.block = fx.symbolic_trace(Block())
        self.act = nn.Tanh()

    def forward(self, x):
        return self.act(self.block(x))


class CalledTwice(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.alone = self.gate
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.alone(self.gate(x=x, scale=0.5)))


class AsUsual(nn.Module):
    """Reads sizes of its own tensors, changes one in place, and calls a function of `math`."""

    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.weight = nn.Parameter(torch.ones(2, 3))
        self.register_buffer("steps", torch.ones(4))

    def forward(self, x):
        x = self.gate(x).reshape(self.weight.shape) * self.steps.shape[0]
        return torch.relu_(x) / math.sqrt(x.shape[-1])


class Tree(nn.Module):
    """The root and its child have the same class."""

    def __init__(self, depth=2):
        super().__init__()
        self.children_ = nn.ModuleList([Tree(depth - 1) for _ in range(2)] if depth else [])

    def forward(self, x):
        for child in self.children_:
            x = child(x).sin()
        return x + 1


@dataclass(frozen=True, eq=False)
class Tracing:
    """Builds a trial: tracers, and the models that they trace.

    Attributes:
        models: build the models; the first one is the case's.
        tracers: positional and keyword arguments of each tracer.
        turns: indices of a tracer and a model for each call of `trace`, in order.
        training: whether the models are in training mode.
    """

    models: tuple[Make, ...]
    tracers: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...]
    turns: tuple[tuple[int, int], ...]
    training: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        models = [fresh(make, seed, training=self.training) for make in self.models]
        turns = tuple((place, models[which]) for place, which in self.turns)
        return Trial(args=(self.tracers, turns), model=models[0], watch=tuple(models[1:]))


def some_leaves(trial: Trial, choice: int) -> Trial:
    """Give a random model's trial a tracer with some of the model's modules as leaves."""
    model = trial.model
    assert model is not None  # noqa: S101
    names = [name for name, _ in model.named_modules() if name]
    types = ((), (Gate,), (Shift, nn.Sequential), (Block,))[choice % 4]
    made = ((), {"leaf_types": types, "leaf_names": tuple(names[choice % 3 :: 3])})
    return replace(trial, args=((made,), ((0, model), (0, model))))
