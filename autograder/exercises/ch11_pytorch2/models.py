"""Exported programs as objects of cases: each is made once in a process, and copied for each run."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram

from autograder.core.exercise import Trial
from autograder.models import T, fresh
from autograder.models.build import arguments


@dataclass(frozen=True)
class Program:
    """Builds the objects of a case that hands the answer an exported program.

    Attributes:
        make: builds the model.
        args: what it is exported with, tensors as `T`; `Held` where it is nested.
        training: the mode of the model.
        decomposed: whether `run_decompositions` is called, with an empty table.
        change: what is done to the program besides.
    """

    make: Callable[[], nn.Module]
    args: tuple[Any, ...]
    training: bool = False
    decomposed: bool = False
    change: Callable[[ExportedProgram], ExportedProgram] | None = None

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        program = copy.deepcopy(exported(self))
        model = fresh(self.make, training=self.training, dtype=torch.float32)
        return Trial(args=(program,), model=model, watch=(program,))


@dataclass(frozen=True)
class Held:
    """A list of tensors under a name, as an argument: it can be hashed."""

    name: str
    specs: tuple[T, ...]


@cache
def exported(recipe: Program) -> ExportedProgram:
    """The program of a recipe; whoever gives it away copies it."""
    with torch.random.fork_rng(devices=[]):
        model = fresh(recipe.make, training=recipe.training, dtype=torch.float32)
        specs = [
            {arg.name: list(arg.specs)} if isinstance(arg, Held) else arg for arg in recipe.args
        ]
        args = tuple(_made(spec) for spec in specs)
        program = torch.export.export(model, args)
        if recipe.decomposed:
            program = program.run_decompositions({})
    return program if recipe.change is None else recipe.change(program)


def _made(spec: Any) -> Any:
    if isinstance(spec, dict):
        return {key: [_made(item) for item in items] for key, items in spec.items()}
    (value,) = arguments((spec,), torch.Generator().manual_seed(1), torch.float32)
    return value
