"""Inputs for `fresh_noise`, which is given no model."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from autograder.core.exercise import Trial
from autograder.models import T, tensor_of


@dataclass(frozen=True, eq=False)
class Tensors:
    """Builds a trial with one run for each tensor, of float64 where none is said."""

    specs: tuple[T, ...]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        generator = torch.Generator().manual_seed(seed + 1)
        return Trial(inputs=tuple((tensor_of(spec, generator),) for spec in self.specs))
