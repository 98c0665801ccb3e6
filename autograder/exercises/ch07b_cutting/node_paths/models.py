"""Nested modules for `node_paths`, with nodes from different forwards."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from autograder.authoring.models import Trial, fresh

Make = Callable[[], nn.Module]


class Flat(nn.Module):
    """Tracing enters no submodule."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(3, 3)

    def forward(self, x):
        return torch.relu(self.proj(x)) + 1


class Gate(nn.Module):
    """A function, a method, an operator and a layer."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        return torch.sigmoid(self.lin(x)).neg() * x


class OneChild(nn.Module):
    """Operations before, inside and after a submodule."""

    def __init__(self):
        super().__init__()
        self.gate = Gate()

    def forward(self, x):
        return torch.tanh(self.gate(x + 1))


class Pair(nn.Module):
    """Operations on both sides of a submodule."""

    def __init__(self):
        super().__init__()
        self.inner = Gate()

    def forward(self, x):
        return self.inner(x * 2) - x


class Deep(nn.Module):
    """Down two levels, up one level, and up to the root."""

    def __init__(self):
        super().__init__()
        self.block = Pair()
        self.second = Pair()

    def forward(self, x):
        return torch.exp(self.second(self.block(x)))


class CalledTwice(nn.Module):
    """One module with two calls, and an operation between them."""

    def __init__(self):
        super().__init__()
        self.block = Pair()

    def forward(self, x):
        first = self.block(x)
        return self.block(torch.relu(first)) + first


class LeafTwice(nn.Module):
    """Two modules call one layer, and one of them twice."""

    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
        self.body = nn.Sequential(nn.Linear(3, 3), self.act)

    def forward(self, x):
        return self.act(self.body(self.act(x)))


class Sequentials(nn.Module):
    """A Sequential within a Sequential; their forwards call the children."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.ReLU(), Gate()), nn.Tanh())

    def forward(self, x):
        return self.body(x) + x


class Borrower(nn.Module):
    """Calls a module that also belongs to another module."""

    def __init__(self, lent):
        super().__init__()
        self.lent = lent

    def forward(self, x):
        return self.lent(x + 1) * 3


class Shared(nn.Module):
    """One layer and one block, each with two names."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.gate = Gate()
        self.first = Borrower(self.lin)
        self.second = Borrower(self.gate)

    def forward(self, x):
        return self.second(self.first(x)) + self.gate(x)


class Namesakes(nn.Module):
    """Names that do not tell which module made a node."""

    def __init__(self):
        super().__init__()
        self.relu = Gate()
        self.relu_1 = nn.Linear(3, 3)
        self.sub_add = Pair()
        self.output = nn.Linear(3, 3)

    def forward(self, x, relu_lin, sub):
        x = torch.relu(self.relu(x)) + relu_lin
        return torch.relu(self.relu_1(self.output(self.sub_add(x)))) + sub


class Scale(nn.Module):
    """A module with a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))

    def forward(self, x):
        return x * self.weight


class Parameters(nn.Module):
    """A parameter read by its own module, and parameters of submodules read by the root."""

    def __init__(self):
        super().__init__()
        self.scale = Scale()
        self.gate = Gate()
        self.shift = nn.Parameter(torch.rand(3))

    def forward(self, x):
        x = self.scale(x + self.shift)
        return F.linear(x, self.gate.lin.weight) + self.scale.weight


class Positions(nn.Module):
    """The model passes a buffer to a layer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("places", torch.rand(4, 3))
        self.proj = nn.Linear(3, 3)

    def forward(self, x):
        return x + self.proj(self.places)


class Encoded(nn.Module):
    """The model passes buffers to layers, also by keyword."""

    def __init__(self):
        super().__init__()
        self.embed = Positions()
        self.proj = nn.Linear(3, 3)

    def forward(self, x):
        return self.embed(x) + self.proj(input=self.embed.places)


class Signature(nn.Module):
    """Parameters of every kind, and a submodule called with keyword arguments."""

    def __init__(self):
        super().__init__()
        self.mix = Mix()

    def forward(self, x, scale=2.0, *rest, shift=None, **more):
        return self.mix(y=scale, x=x), rest, shift, more


class Mix(nn.Module):
    """Computes several values from two inputs."""

    def forward(self, x, y):
        return {"sum": operator.add(x, y), "dead": x.exp(), "items": [x - y, x]}


class ByMode(nn.Module):
    """Training mode makes other nodes."""

    def forward(self, x):
        return x.exp() if self.training else x.neg()


class Moody(nn.Module):
    """The model and its submodule both branch on their mode."""

    def __init__(self):
        super().__init__()
        self.part = ByMode()

    def forward(self, x):
        x = self.part(x)
        return self.part(x * 2) if self.training else x


class Branches(nn.Module):
    """A model with a forward that FX cannot trace."""

    def __init__(self):
        super().__init__()
        self.gate = Gate()

    def forward(self, x):
        x = self.gate(x)
        return x if x.sum() > 0 else -x


class Untraceable(nn.Module):
    """Tracing raises two levels down."""

    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 3), Branches())

    def forward(self, x):
        return self.block(x + 1) * 2


@dataclass(frozen=True, eq=False)
class PathTrial:
    """Builds a trial of one model; the answer is called on other models first.

    Attributes:
        make: builds the model.
        after: builders of the models of the earlier calls.
        training: whether the model is in training mode.
        change: changes the model after a first call on it.
    """

    make: Make
    after: tuple[Make, ...] = ()
    training: bool = False
    change: Callable[[nn.Module], None] | None = None

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, training=self.training)
        watch = tuple(fresh(m, seed) for m in self.after)
        if self.change is None:
            return Trial(args=(model,), model=model, watch=watch)
        change = partial(_changed, self.change, model)
        return Trial(args=(model,), model=model, watch=(*watch, model), meanwhile=change)


def _changed(change: Callable[[nn.Module], None], model: nn.Module, _: object) -> None:
    change(model)


def exchange_gate(model: nn.Module) -> None:
    """Replace the gate by a nested module."""
    model.gate = Pair()


# Models of earlier calls. They are simple, so that a finding is about the random model.
EARLIER: tuple[tuple[Make, ...], ...] = (
    (),
    (Flat,),
    (Untraceable,),
    (Flat, Untraceable),
)


def after_others(trial: Trial, choice: int) -> Trial:
    """The trial, for some choices with models of earlier calls."""
    earlier = EARLIER[choice // 2 % len(EARLIER)] if choice % 2 else ()
    return replace(trial, watch=tuple(fresh(make, 0) for make in earlier))
