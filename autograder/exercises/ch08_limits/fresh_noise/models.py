"""Inputs for `fresh_noise`, which takes no model."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from autograder.authoring.models import T, Trial, tensor_of


def laid_out_otherwise(seed: int) -> Trial:
    """Every second column of a tensor, and a tensor whose rows share their memory."""
    generator = torch.Generator().manual_seed(seed + 1)
    x, row = (tensor_of(T(*shape), generator) for shape in ((3, 4), (1, 3)))
    return Trial(inputs=((x[:, ::2],), (row.expand(4, 3),)))


@dataclass(frozen=True, eq=False)
class Tensors:
    """Builds a trial with one run per tensor; the default dtype is float64.

    Attributes:
        specs: the tensors.
        scale: the factor of each entry.
        first: replaces the first entries: numbers too large for noise to change.
    """

    specs: tuple[T, ...]
    scale: float = 1.0
    first: tuple[float, ...] = ()

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        generator = torch.Generator().manual_seed(seed + 1)
        made = [tensor_of(spec, generator) * self.scale for spec in self.specs]
        for x in made:
            for place, number in enumerate(self.first):
                x.view(-1)[place] = number
        return Trial(inputs=tuple((x,) for x in made))
