"""Inputs for `sign_flip`, which takes no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from autograder.authoring.models import T, Trial, tensor_of


@dataclass(frozen=True, eq=False)
class Tensors:
    """Builds a trial with one run for each tensor.

    Attributes:
        values: each tensor as `T`, or as a pair of a list and a dtype.
        transposed: whether to transpose each tensor, which changes the order of its entries in
            memory.
    """

    values: tuple[Any, ...]
    transposed: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        generator = torch.Generator().manual_seed(seed + 1)
        made = [
            tensor_of(value, generator)
            if isinstance(value, T)
            else torch.tensor(value[0], dtype=value[1])
            for value in self.values
        ]
        if self.transposed:
            made = [tensor.t() for tensor in made]
        return Trial(inputs=tuple((tensor,) for tensor in made))
