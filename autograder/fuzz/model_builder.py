"""Builds the objects of a random case: all of it that a student's process needs to know."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx

from autograder.core.exercise import Trial
from autograder.fuzz.codegen import Program
from autograder.models.build import arguments, fresh


def no_completion(trial: Trial, choice: int) -> Trial:
    """The trial: the exercise needs nothing besides a model."""
    return trial


@dataclass(frozen=True, eq=False)
class Builder:
    """Builds the objects of a random case, and knows nothing of what must come out.

    Attributes:
        program: the model's code and the shapes of its inputs.
        names: what its code may name besides PyTorch.
        dtype: of its parameters and inputs.
        training: whether it is in training mode.
        traced: whether its trace stands for it.
        complete: gives the trial what the exercise needs besides a model.
        choice: the number that chooses there.
    """

    program: Program
    names: dict[str, Any]
    dtype: torch.dtype
    training: bool
    traced: bool
    complete: Callable[[Trial, int], Trial]
    choice: int

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        return self.complete(self.begin(seed), self.choice)

    def begin(self, seed: int) -> Trial:
        """A fresh trial without what the exercise needs besides a model."""
        model = fresh(
            lambda: self.program.model(self.names), seed, training=self.training, dtype=self.dtype
        )
        if self.traced:
            model = fx.symbolic_trace(model)
        return replace(self._surroundings(seed), args=(model,), model=model)

    def without_model(self, seed: int) -> Trial:
        """A fresh trial in which the model may be missing, for those that need only the rest."""
        return self._surroundings(seed) if self.complete is no_completion else self(seed)

    def _surroundings(self, seed: int) -> Trial:
        generator = torch.Generator().manual_seed(seed + 1)
        inputs = tuple(arguments(specs, generator, self.dtype) for specs in self.program.inputs)
        return Trial(inputs=inputs, functions=copy.copy(self.names), copied=False)
