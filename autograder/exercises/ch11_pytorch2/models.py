"""What cases of chapter 11 are built from: exported programs, and models that a backend compiles.

A program is made once in a process, and copied for each run.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import fx, nn
from torch.export import Dim, ExportedProgram

from autograder.authoring.models import T, Trial, arguments, fresh


@dataclass(frozen=True)
class Program:
    """Builds the objects of a case that hands the answer an exported program.

    Attributes:
        make: builds the model.
        args: what it is exported with, tensors as `T`; `Held` where it is nested.
        training: the mode of the model.
        decomposed: whether `run_decompositions` is called, with an empty table.
        keywords: what it is exported with by keyword: names, and tensors as `T`.
        change: what is done to the program besides.
        varying: the places of arguments that are numbers, and may be others in each call.
    """

    make: Callable[[], nn.Module]
    args: tuple[Any, ...]
    training: bool = False
    decomposed: bool = False
    keywords: tuple[tuple[str, T], ...] = ()
    change: Callable[[ExportedProgram], ExportedProgram] | None = None
    varying: tuple[int, ...] = ()

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
    """The program of a recipe; callers that pass it on copy it."""
    with torch.random.fork_rng(devices=[]):
        model = fresh(recipe.make, training=recipe.training, dtype=torch.float32)
        specs = [
            {arg.name: list(arg.specs)} if isinstance(arg, Held) else arg for arg in recipe.args
        ]
        args = tuple(_made(spec) for spec in specs)
        keywords = {name: _made(spec) for name, spec in recipe.keywords}
        vary = tuple(Dim.DYNAMIC if i in recipe.varying else None for i in range(len(args)))
        shapes = vary if recipe.varying else None
        program = torch.export.export(model, args, keywords, dynamic_shapes=shapes)
        if recipe.decomposed:
            program = program.run_decompositions({})
    return program if recipe.change is None else recipe.change(program)


def _made(spec: Any) -> Any:
    if isinstance(spec, dict):
        return {key: [_made(item) for item in items] for key, items in spec.items()}
    (value,) = arguments((spec,), torch.Generator().manual_seed(1), torch.float32)
    return value


# ------------------------------------------------------------------ backends

Run = Callable[..., Any]


@dataclass(frozen=True)
class Driven:
    """Builds the objects of a case in which the answer is put to work as a backend.

    Attributes:
        drive: takes the model and a tuple of example inputs, and gives what takes the answer.
        make: builds the model.
        inputs: argument tuples for the runs, tensors as `T`.
        dtype: of parameters and of inputs that do not name one.
    """

    drive: Callable[[nn.Module, tuple[Any, ...]], Callable[[Any], Run]]
    make: Callable[[], nn.Module]
    inputs: tuple[tuple[Any, ...], ...]
    dtype: torch.dtype = torch.float64

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, dtype=self.dtype)
        generator = torch.Generator().manual_seed(seed + 1)
        inputs = tuple(arguments(specs, generator, self.dtype) for specs in self.inputs)
        return Trial(args=(self.drive(model, inputs[0]),), model=model, inputs=inputs)


def with_gradients(call: Run, model: nn.Module) -> Run:
    """What a call returns, with the gradients of its sum for inputs and parameters."""

    def run(*inputs: Any) -> tuple[Any, ...]:
        with torch.enable_grad():
            tensors = [x.requires_grad_() for x in inputs if x.is_floating_point()]
            result = call(*inputs)
            wanted = [*tensors, *model.parameters()]
            return result, *torch.autograd.grad(result.sum(), wanted, allow_unused=True)

    return run


@dataclass(frozen=True)
class Compiled:
    """The model, compiled with the answer as the backend."""

    model: nn.Module
    examples: tuple[Any, ...]

    says = "torch.compile(model, backend={name})"

    def __call__(self, answer: Any) -> Run:
        """What is run."""
        return torch.compile(self.model, backend=answer)


class CompiledForTraining(Compiled):
    """The same, with gradients."""

    def __call__(self, answer: Any) -> Run:
        """What is run."""
        return with_gradients(super().__call__(answer), self.model)


class ByHand(Compiled):
    """The answer is called by hand, with a trace of the model."""

    says = "{name}(fx.symbolic_trace(model), example_inputs)"

    def __call__(self, answer: Any) -> Run:
        """What is run."""
        return answer(fx.symbolic_trace(self.model), copy.deepcopy(list(self.examples)))
