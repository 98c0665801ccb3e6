"""Models for `MetaTracer` that ask about shapes."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.models import RandomState, T, Trial, fresh, tensor_of

Make = Callable[[], nn.Module]


# ------------------------------------------------------------------ branches and loops


class Branch(nn.Module):
    def forward(self, x):
        if x.shape[0] > 1:
            return x.mean(0)
        return x * 2


class TwoColumns(nn.Module):
    def forward(self, x):
        y = torch.sin(x)
        if y.shape[1] == 2:
            return y.sum(1)
        return y * 2


class Rows(nn.Module):
    def forward(self, x):
        total = x * 0
        for row in x:
            total = total + row.tanh()
        return total


class Counted(nn.Module):
    def forward(self, x):
        return torch.stack([x[i] * i for i in range(x.shape[0])])


class Length(nn.Module):
    def forward(self, x):
        return x.sum(0) / len(x) + len(x.shape) * len(x.split(1))


class Tail(nn.Module):
    def forward(self, x):
        tail = x[x.shape[0] - 2 :]
        return tail.reshape(int(tail.shape[0]) * 2, -1)


class Scalar(nn.Module):
    def forward(self, x):
        if not x.dim():
            return x.exp()
        return x * 2 if x.shape else x


class Starred(nn.Module):
    def forward(self, x):
        first, *others = x.split(1, dim=1)
        for other in others:
            first = first - other
        return first


class Splat(nn.Module):
    def forward(self, x):
        return torch.maximum(*x.chunk(2, dim=1)).reshape(*x.shape[:1], -1)


class Listed(nn.Module):
    def forward(self, x):
        parts = list(x.chunk(3))
        rows = tuple(x)
        y = torch.cat([*parts[1:], parts[0]])
        return y + rows[-1] if y.shape[0] == 3 else y


class Truth(nn.Module):
    def forward(self, x):
        if x.shape[1] % 2:
            x = x + 1
        if not x.shape[0] - 3:
            x = x * 2
        return -x if x.numel() else x


class Types(nn.Module):
    def forward(self, x):
        if x.dtype == torch.int64:
            x = x.float()
        return x.sqrt() if x.dtype != torch.float64 else x


class Floating(nn.Module):
    def forward(self, x):
        if not x.is_floating_point():
            x = x / 2
        return x * 3 if torch.is_floating_point(x) else x


class Columns(nn.Module):
    """`x.T` and `x.mT` are attributes like `x.shape`, but they are tensors."""

    def forward(self, x):
        first, second = x.T
        return torch.stack([column * second for column in x.mT]) - first


class Optional(nn.Module):
    """`y` has a default, but may be given."""

    def forward(self, x, y=None):
        if y is None or len(y) != x.shape[0]:
            return x
        return x + y


# ------------------------------------------------------------------ without questions


class HandedOn(nn.Module):
    def forward(self, x):
        rows = x.shape[0]
        return x.view(rows, -1).expand(rows, x.size(1)) * x.shape[1]


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Dropout(0.5))
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("offset", torch.ones(3))

    def forward(self, x):
        return self.body(x) * self.scale.exp() + self.offset


class Dynamic(nn.Module):
    def forward(self, x):
        chosen = x[x > 0]
        places = x.nonzero()
        x.numpy()
        return chosen.sum() * x.max().item() + places.shape[0]


class Behind(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Softplus(beta=2.0)

    def forward(self, x):
        return self.layer(x[x > 0])


# ------------------------------------------------------------------ questions without an answer


class Value(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


class Chosen(nn.Module):
    def forward(self, x):
        chosen = x[x > 0]
        return chosen if chosen.shape[0] > 2 else x


class Picked(nn.Module):
    def forward(self, x):
        return [value * 2 for value in x[x > 0]]


class Default(nn.Module):
    def forward(self, x, power=2):
        return x * x if power == 2 else x.pow(power)


class TooMany(nn.Module):
    def forward(self, x):
        first, second = x
        return first - second


# ------------------------------------------------------------------ layers and their tensors


class Narrow(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 6)
        self.conv = nn.Conv1d(2, 3, 2)

    def forward(self, x):
        wide = self.layer(x)
        if wide.shape[-1] == 6:
            wide = wide[..., :3]
        y = self.conv(input=wide)
        return y.tanh() if y.shape[-1] == 2 else y


def narrowed(layer: nn.Module, args: tuple[torch.Tensor, ...], value: torch.Tensor) -> torch.Tensor:
    """A hook that keeps three columns of the layer's result."""
    return value[..., :3]


class Hooked(nn.Module):
    """A hook changes the layer's result in every call."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 6)
        self.layer.register_forward_hook(narrowed)

    def forward(self, x):
        y = self.layer(x)
        return y.tanh() if y.shape[-1] == 3 else y


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 5))

    def forward(self, x):
        y = x @ self.weight
        if self.weight.shape[1] > self.weight.shape[0]:
            y = y * 2
        return y if y.shape[1] == 5 else x


class Part(nn.Module):
    """A layer called with two shapes, and a part with its own parameter."""

    def __init__(self):
        super().__init__()
        self.part = Weighted()
        self.act = nn.Tanh()

    def forward(self, x):
        y = self.act(self.part(x))
        row = self.act(x.sum(0))
        return y if row.dim() == 2 else row


class Offset(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.ones(2, 1, 4))

    def forward(self, x):
        y = torch.mul(torch.add(x, other=self.offset), torch.tensor([1.0, 2.0, 3.0, 4.0]))
        return y.sum(0) if y.shape[1] == 3 else y


class Trained(nn.Module):
    """In training mode, a BatchNorm counts batches and a dropout draws random numbers."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        x = F.dropout(self.drop(self.norm(x)), 0.5, self.training)
        return x[0] if x.shape[0] > 2 else x


class Noisy(nn.Module):
    def forward(self, x):
        x = x + torch.rand(x.shape)
        return x * 2 if x.shape[0] == 3 else x


class Turned(nn.Module):
    def forward(self, x):
        x.t_()
        x.mul_(2)
        return x.sum(0) if x.shape[0] == 4 else x


# ------------------------------------------------------------------ the list `assumed`


class Often(nn.Module):
    def forward(self, x):
        rows, columns = x.shape[0], x.shape[1]
        for j in range(columns):
            x = x + j
        if rows:
            for i in range(rows):
                x = x * i
        return x[: int(columns)]


class Both(nn.Module):
    def forward(self, input, x):
        if len(input) == len(x):
            return input + x
        return [row for row in input]


class Pair(nn.Module):
    def forward(self, x, input):
        return x.sum() + input.sum() if x.shape[1] == input.shape[1] else x


@dataclass(frozen=True)
class Example:
    """The recipe of an example.

    Attributes:
        spec: its shape and dtype.
        how: ``"meta"`` for a meta tensor, ``"grad"`` for one that requires a gradient.
    """

    spec: T
    how: str = ""

    def make(self, generator: torch.Generator) -> torch.Tensor:
        """The tensor."""
        made = tensor_of(self.spec, generator, torch.float32)
        if self.how == "meta":
            return made.to("meta")
        return made.requires_grad_(self.how == "grad")


@dataclass(frozen=True, eq=False)
class Tracing:
    """Builds a trial: tracers, and the models that they trace.

    Attributes:
        models: build the models; the first one is the case's.
        examples: for each tracer, its examples by name.
        turns: indices of a tracer and a model for each call of `trace`, in order.
        training: the mode of the models.
        dtype: of the models.
    """

    models: tuple[Make, ...]
    examples: tuple[dict[str, Example], ...]
    turns: tuple[tuple[int, int], ...]
    training: bool = False
    dtype: torch.dtype = torch.float32

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        models = [
            fresh(make, seed, training=self.training, dtype=self.dtype) for make in self.models
        ]
        generator = torch.Generator().manual_seed(seed + 1)
        given = [
            {name: example.make(generator) for name, example in row.items()}
            for row in self.examples
        ]
        turns = tuple((place, models[which]) for place, which in self.turns)
        return trial_of(models, given, turns)


def trial_of(
    models: list[nn.Module],
    given: list[dict[str, torch.Tensor]],
    turns: tuple[tuple[int, nn.Module], ...],
) -> Trial:
    """A trial that watches models, examples and the random state."""
    _first_sum_on_meta()
    made = tuple(((), examples) for examples in given)
    tensors = [tensor for examples in given for tensor in examples.values()]
    watch = (*models[1:], *tensors, RandomState())
    return Trial(args=(made, turns), model=models[0], watch=watch)


@cache
def _first_sum_on_meta() -> None:
    """Warm up meta tensors: the first use imports hundreds of modules, outside an answer's time."""
    torch.zeros(1, device="meta").add(1)


def some_examples(trial: Trial, choice: int) -> Trial:
    """A tracer with examples of the shapes that a random model takes, for two traces."""
    model = trial.model
    assert model is not None  # noqa: S101
    names = list(inspect.signature(model.forward).parameters)
    given = dict(zip(names, trial.inputs[0], strict=False))
    if choice % 8 == 1:
        given.pop(names[-1])
    made = trial_of([model], [given], ((0, model), (0, model)))
    return replace(trial, args=made.args, watch=made.watch)


def as_one_node(model: nn.Module) -> fx.GraphModule:
    """A graph that calls the model once, because `fx.Tracer` cannot trace its shape questions."""
    root, graph = nn.Module(), fx.Graph()
    root.add_module("model", model)
    names = inspect.signature(model.forward).parameters
    given = tuple(graph.placeholder(name) for name in names)
    graph.output(graph.call_module("model", given))
    return fx.GraphModule(root, graph)
