"""Models for `source_of` whose operations are written in many places."""

# A learner sees these classes as they stand here; their names say what they are for.
# ruff: noqa: D101, D103

from __future__ import annotations

import colorsys
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import Trial, fresh
from autograder.models.networks import real

TORCH = str(Path(torch.__file__).parent)


def squared(x):
    y = x * x
    return torch.neg(
        y,
    )


halved = lambda x: x / 2  # noqa: E731


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        x = self.layer(x)
        return torch.relu(x).sum(dim=-1, keepdim=True)


class Lines(nn.Module):
    """Functions, methods and modules, some on the same line or on several lines."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.shift = nn.Parameter(torch.rand(3))

    def forward(self, x, y=1.0):
        hidden = torch.tanh(self.layer(x) + self.shift)
        total = (
            hidden.sum()
            * y
        )  # fmt: skip
        torch.exp(total)
        return [total, hidden[0]]


class Helped(nn.Module):
    """Helpers, a lambda, a comprehension, and an inner model."""

    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        parts = [squared(x + i) for i in range(2)]
        first = halved(parts[0])
        return self.inner(first) + self.inner(parts[1])


class InSequence(nn.Module):
    """Children of a Sequential, leaves and others."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), Inner())

    def forward(self, x):
        x = x + 1
        return self.body(x)


class Residual(nn.Sequential):
    """A Sequential with its own lines in `forward`."""

    def forward(self, x):
        y = super().forward(x)
        return x + y


class InAResidual(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Residual(nn.Linear(3, 3), nn.Tanh())

    def forward(self, x):
        return self.body(x).neg()


class Undecided(nn.Module):
    """FX cannot trace it: a value decides which line runs."""

    def forward(self, x):
        y = torch.relu(x)
        return y.neg() if y.sum() > 0 else y


class InSequences(nn.Module):
    """Eight nested Sequentials, then a function of Python's library."""

    def __init__(self):
        super().__init__()
        self.body = nn.Tanh()
        for _ in range(8):
            self.body = nn.Sequential(self.body)

    def forward(self, x):
        y = self.body(x)
        return colorsys.rgb_to_yiq(x, y, y)[0]


class OwnLinear(nn.Linear):
    """FX opens it: its one operation is made in a file of torch."""


class Subclassed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = OwnLinear(3, 3)

    def forward(self, x):
        y = self.layer(x)
        return torch.tanh(y)


class Other(nn.Module):
    """Its nodes have the same names as those of `Lines`, but come from other lines."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        add = x + 1
        tanh = add.tanh()
        return self.layer(tanh)


class Shapes(nn.Module):
    """FX makes the node of an attribute on first use."""

    def forward(self, x):
        size = x.shape
        y = x + 1
        return torch.reshape(y, size)


class Again(nn.Module):
    """Calls the same things on two lines."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        a = torch.relu(self.layer(x)).neg()
        b = torch.relu(self.layer(a)).neg()
        return b


def source_of(x):
    """A helper with the name of the exercise, and an inner one as well."""

    def twice(y):
        return y * 2

    return twice(x + 1)


class NamedLikeATracer(nn.Module):
    """Its helpers have the names of a tracer's methods."""

    def create_node(self, x):
        return x.sin()

    def create_proxy(self, x):
        return x.cos()

    def call_module(self, x):
        return x.tanh()

    def trace(self, x):
        return x.exp()

    def source_of(self, x):
        return self.trace(self.call_module(x))

    def forward(self, x):
        return source_of(self.source_of(self.create_proxy(self.create_node(x))))


_CELL = """
import torch
from torch import nn

class InACell(nn.Module):
    def forward(self, x):
        y = torch.sin(x)
        return y.cos()
"""


def in_a_cell() -> nn.Module:
    """A model whose code is not in a file."""
    scope: dict[str, Any] = {}
    exec(compile(_CELL, "<a cell>", "exec"), scope)
    return scope["InACell"]()


def from_a_template() -> nn.Module:
    """A model whose code was generated by a file, under that file's name."""
    scope: dict[str, Any] = {"__file__": "/home/ada/templates.py"}
    exec(compile(_CELL, "<a template>", "exec"), scope)
    return scope["InACell"]()


def in_a_folder_called_torch() -> nn.Module:
    """A model in a user's own folder that is named torch."""
    scope: dict[str, Any] = {}
    exec(compile(_CELL, "/home/ada/torch/lessons.py", "exec"), scope)
    return scope["InACell"]()


def tiny_vision() -> nn.Module:
    """Blocks of torchvision, whose lines count like user code."""
    from torchvision.ops.misc import Conv2dNormActivation, SqueezeExcitation

    return nn.ModuleDict({"a": Conv2dNormActivation(4, 4), "b": SqueezeExcitation(4, 2)})


class Vision(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = tiny_vision()

    def forward(self, x):
        return self.parts["b"](self.parts["a"](x))


_BORROWED = "\n" * 30 + "def helper(x):\n    return x.sigmoid()\n"


class Borrowed(nn.Module):
    """Its operation claims to be in the file of the code that traces it."""

    def forward(self, x):
        frame = sys._getframe(1)
        while frame.f_code.co_filename.startswith(TORCH):
            frame = frame.f_back
        scope: dict[str, Any] = {}
        exec(compile(_BORROWED, frame.f_code.co_filename, "exec"), scope)
        return scope["helper"](x)


@dataclass(frozen=True, eq=False)
class Written:
    """Builds a trial: a model, and models for earlier calls.

    Attributes:
        make: builds the model.
        earlier: build the models for earlier calls.
        network: whether the model keeps its own weights.
        training: whether it is in training mode.
    """

    make: Callable[[], nn.Module]
    earlier: tuple[Callable[[], nn.Module], ...] = ()
    network: bool = False
    training: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        made = real(self.make, seed) if self.network else fresh(self.make, seed)
        model = made.train(self.training)
        return Trial(
            args=(model,), model=model, watch=tuple(fresh(each, seed) for each in self.earlier)
        )


def not_a_trace(trial: Trial, choice: int) -> Trial:
    """The trial of a random model, which must have its own source lines."""
    assert not isinstance(trial.model, fx.GraphModule)
    return trial
