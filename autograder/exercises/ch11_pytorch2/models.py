"""Builders of chapter 11's cases: exported programs, and models that a backend compiles.

Each process exports a program once, and copies it for each run.
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
        args: arguments for export, tensors as `T`.
        training: the mode of the model.
        decomposed: whether `run_decompositions` is called, with an empty table.
        keywords: keyword arguments for export: names, and tensors as `T`.
        change: changes the exported program.
        varying: indices of number arguments that may differ in each call.
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


@cache
def exported(recipe: Program) -> ExportedProgram:
    """Export the program of a recipe; callers that pass it on must copy it."""
    with torch.random.fork_rng(devices=[]):
        model = fresh(recipe.make, training=recipe.training, dtype=torch.float32)
        args = tuple(_made(spec) for spec in recipe.args)
        keywords = {name: _made(spec) for name, spec in recipe.keywords}
        vary = tuple(Dim.DYNAMIC if i in recipe.varying else None for i in range(len(args)))
        shapes = vary if recipe.varying else None
        program = torch.export.export(model, args, keywords, dynamic_shapes=shapes)
        if recipe.decomposed:
            program = program.run_decompositions({})
    return program if recipe.change is None else recipe.change(program)


def _made(spec: Any) -> Any:
    (value,) = arguments((spec,), torch.Generator().manual_seed(1), torch.float32)
    return value


# ------------------------------------------------------------------ backends

Run = Callable[..., Any]


@dataclass(frozen=True)
class Driven:
    """Builds the objects of a case that uses the answer as a backend.

    Attributes:
        drive: makes an object from the model and example inputs; calling it runs the answer.
        make: builds the model.
        inputs: argument tuples for the runs, tensors as `T`.
    """

    drive: Callable[[nn.Module, tuple[Any, ...]], Callable[[Any], Run]]
    make: Callable[[], nn.Module]
    inputs: tuple[tuple[Any, ...], ...]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed)
        generator = torch.Generator().manual_seed(seed + 1)
        inputs = tuple(arguments(specs, generator, torch.float64) for specs in self.inputs)
        return Trial(args=(self.drive(model, inputs[0]),), model=model, inputs=inputs)


def with_gradients(call: Run, model: nn.Module) -> Run:
    """A call that also returns the gradients of its result's sum, for inputs and parameters."""

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
        """Compile the model with the answer."""
        return torch.compile(self.model, backend=answer)


class CompiledForTraining(Compiled):
    """The same, with gradients."""

    def __call__(self, answer: Any) -> Run:
        """Compile the model with the answer, and compute gradients."""
        return with_gradients(super().__call__(answer), self.model)


class ByHand(Compiled):
    """Calls the answer directly with a trace of the model."""

    says = "{name}(fx.symbolic_trace(model), example_inputs)"

    def __call__(self, answer: Any) -> Run:
        """Call the answer with a trace and example inputs."""
        return answer(fx.symbolic_trace(self.model), copy.deepcopy(list(self.examples)))
