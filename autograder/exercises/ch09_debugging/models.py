"""Makers of inputs for models under comparison: for two exercises of chapter 09."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from autograder.authoring.models import T, tensor_of


@dataclass(frozen=True)
class Draws:
    """Makes a tuple of arguments for a seed, tensors as `T`.

    Attributes:
        specs: the arguments.
        odd: the only seed for which tensors have negative entries. Without it, tensors have
            entries of both signs for every seed.
    """

    specs: tuple[Any, ...]
    odd: int | None = None
    name: ClassVar[str] = "make_inputs"

    @property
    def in_short(self) -> str:
        """One line for a card."""
        shapes = ", ".join(_spec_text(spec) for spec in self.specs)
        return f"fresh arguments, the same for the same seed: {shapes}"

    def __call__(self, seed: int) -> tuple[Any, ...]:
        """A new tuple, the same for the same seed."""
        generator = torch.Generator().manual_seed(1000 + seed)
        made = tuple(_made(spec, generator) for spec in self.specs)
        if self.odd is None or seed == self.odd:
            return made
        return tuple(value.abs() if isinstance(value, torch.Tensor) else value for value in made)


@dataclass(frozen=True)
class DrawsWithNaN(Draws):
    """Makes the same tensors, each starting with NaN."""

    def __call__(self, seed: int) -> tuple[Any, ...]:
        """A new tuple, the same for the same seed."""
        made = super().__call__(seed)
        for value in made:
            value.view(-1)[0] = torch.nan
        return made


def _spec_text(spec: Any) -> str:
    if isinstance(spec, T):
        return f"a tensor of shape {spec.shape}"
    if isinstance(spec, dict):
        return f"{{{', '.join(f'{key!r}: {_spec_text(item)}' for key, item in spec.items())}}}"
    return f"({', '.join(map(_spec_text, spec))})" if isinstance(spec, list | tuple) else repr(spec)


def _made(spec: Any, generator: torch.Generator) -> Any:
    if isinstance(spec, T):
        return tensor_of(spec, generator)
    if isinstance(spec, dict):
        return {key: _made(item, generator) for key, item in spec.items()}
    if isinstance(spec, (list, tuple)):
        return type(spec)(_made(item, generator) for item in spec)
    return spec


@dataclass(frozen=True)
class SetsTheSeed:
    """Makes one tensor from the global random state, after seeding it."""

    shape: tuple[int, ...]

    def __call__(self, seed: int) -> tuple[Any, ...]:
        """A new tuple, the same for the same seed."""
        torch.manual_seed(seed)
        return (torch.randn(self.shape, dtype=torch.float64),)
