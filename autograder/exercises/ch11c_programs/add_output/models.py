"""Programs for `add_output`, with outputs of every kind."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram

from autograder.authoring.models import Trial, fresh
from autograder.exercises.ch11c_programs.models import (
    Recipe,
    exported,
    facts_of,
    made,
    reporting,
)
from autograder.models.graph_reports import SameTrial


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        return torch.relu(self.linear(x)).sum(dim=-1)


class Names(nn.Module):
    """An input is named like an operation; two node names begin alike."""

    def forward(self, relu, x):
        return torch.relu(relu - 0.5) * torch.relu(x) + 1


class Unread(nn.Module):
    """Two values that are not read."""

    def forward(self, x):
        torch.tanh(x)
        torch.neg(x)
        return x.cos().sin()


class TwoResults(nn.Module):
    def forward(self, x):
        y = torch.sin(x)
        return y, torch.exp(y)


class Nested(nn.Module):
    """Returns a dictionary with a list, an input and a number."""

    def forward(self, parts, x):
        y = torch.sigmoid(x) * parts["scale"]
        return {"value": y.exp(), "more": [x, (y.sum(), 3)]}


class Constants(nn.Module):
    """A buffer that is not saved, and a tensor created in `forward`."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(3), persistent=False)

    def forward(self, x):
        return (x * self.mask).tanh() + torch.tensor([1.0, 2.0, 3.0])


class Counting(nn.Module):
    """In training mode, the BatchNorm changes its buffers; another buffer is a counter."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        y = torch.tanh(self.norm(self.linear(x)))
        return y.exp(), y.sum()


class ChangesBoth(nn.Module):
    """An input and a buffer are changed; the result depends on the number of calls."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, cache, x):
        cache.mul_(2)
        self.calls.add_(1)
        return torch.sin(x) * self.calls + cache


class Condition(nn.Module):
    """The program contains two more graphs."""

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda z: z.sin(), lambda z: z.cos(), (x,))
        return torch.exp(y + 1)


class Batches(nn.Module):
    """The first size is dynamic."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        y = torch.tanh(self.linear(x))
        return {"mean": y.mean(dim=0), "all": y.reshape(x.shape[0] * 2)}


class SizeComesBack(nn.Module):
    """A dynamic size is an output: its line in the signature is not a tensor's."""

    def forward(self, x):
        return x.sin(), x.shape[0]


@dataclass(frozen=True)
class Extended:
    """Builds the objects of a case of ``add_output(ep, name)``.

    Attributes:
        recipe: the options for exporting the program.
        name: the node whose value becomes an output.
        more: argument tuples for further runs, after the recipe's.
        saved: whether the new program is also saved and loaded.
    """

    recipe: Recipe
    name: str
    more: tuple[tuple[Any, ...], ...] = ()
    saved: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        program = copy.deepcopy(exported(self.recipe))
        recipe = self.recipe
        inputs = tuple(made(specs, seed + 1) for specs in (recipe.args, *self.more))
        return Trial(
            args=(Asked(program, self.name, self.saved),),
            model=fresh(recipe.make, training=recipe.training, dtype=torch.float32),
            inputs=inputs,
            watch=(program,),
        )


@dataclass(frozen=True, eq=False)
class Asked:
    """Calls the answer with a program and a name, and reports on the result.

    Attributes:
        program: the program.
        name: the node.
        saved: whether the new program is also saved and loaded.
    """

    program: ExportedProgram
    name: str
    saved: bool = False

    @property
    def says(self) -> str:
        """The call, for a card."""
        return f"{{name}}(ep, {self.name!r})"

    def __call__(self, answer: Any) -> Callable[..., Any]:
        """Call the answer; each run then calls the new program."""
        new = answer(self.program, self.name)
        return reporting(new, facts_of, saved=self.saved)


# ------------------------------------------------------------------ random programs


def of_random_model(trial: Trial, choice: int) -> Trial:
    """A trial with the program of a random model and one of its values."""
    program = copy.deepcopy(_random_program(SameTrial(trial)))
    tensors = [
        node.name
        for node in program.graph.nodes
        if node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor)
    ]
    name = tensors[choice % len(tensors)] if tensors else "nothing"
    return Trial(
        args=(Asked(program, name),), model=trial.model, inputs=trial.inputs, watch=(program,)
    )


@lru_cache(maxsize=32)
def _random_program(same: SameTrial) -> ExportedProgram:
    assert same.trial.model is not None
    args = copy.deepcopy(same.trial.inputs[0])
    return torch.export.export(copy.deepcopy(same.trial.model), args)
