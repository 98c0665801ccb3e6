"""Builds the objects of a random case, in the student's process too."""

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
    """Return the trial unchanged: the exercise needs only a model."""
    return trial


@dataclass(frozen=True, eq=False)
class Builder:
    """Builds the objects of a random case; it does not contain the expected result.

    Attributes:
        program: the model's code and the shapes of its inputs.
        names: the names that its code may use in addition to PyTorch.
        dtype: the dtype of its parameters and inputs.
        training: whether it is in training mode.
        traced: whether its trace is used instead.
        complete: adds the other objects that the exercise needs to the trial.
        choice: the number passed to `complete`.
    """

    program: Program
    names: dict[str, Any]
    dtype: torch.dtype
    training: bool
    traced: bool
    complete: Callable[[Trial, int], Trial]
    choice: int

    def __call__(self, seed: int) -> Trial:
        """Make a new trial."""
        return self.complete(self.begin(seed), self.choice)

    def begin(self, seed: int) -> Trial:
        """Make a new trial with the model and its inputs only."""
        model = fresh(
            lambda: self.program.model(self.names), seed, training=self.training, dtype=self.dtype
        )
        if self.traced:
            model = fx.symbolic_trace(model)
        return replace(self._surroundings(seed), args=(model,), model=model)

    def without_model(self, seed: int) -> Trial:
        """Make a new trial, possibly without the model, for callers that do not need it."""
        return self._surroundings(seed) if self.complete is no_completion else self(seed)

    def _surroundings(self, seed: int) -> Trial:
        generator = torch.Generator().manual_seed(seed + 1)
        inputs = tuple(arguments(specs, generator, self.dtype) for specs in self.program.inputs)
        return Trial(inputs=inputs, functions=copy.copy(self.names), copied=False)
