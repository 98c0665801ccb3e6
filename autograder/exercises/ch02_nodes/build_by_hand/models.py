"""What `build_by_hand` is given: a linear layer and a shift."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import fx, nn

from autograder.authoring.models import T, Trial, fresh, tensor_of

NO_TRACING = ((fx.Tracer, "trace", "anywhere"),)


@dataclass(frozen=True, eq=False)
class LinearAndShift:
    """Builds a trial.

    Attributes:
        features: how many features go into the layer, and how many come out.
        shift: the shift's shape.
        inputs: argument tuples for the result, tensors as `T`.
        bias: whether the layer has a bias.
        training: its mode.
        dtype: the dtype of all tensors.
        shift_dtype: the dtype of the shift, if it is another one.
        another: whether the answer builds another module for somebody else before the result runs.
    """

    features: tuple[int, int]
    shift: T
    inputs: tuple[tuple[object, ...], ...]
    bias: bool = True
    training: bool = False
    dtype: torch.dtype = torch.float64
    shift_dtype: torch.dtype | None = None
    another: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        proj = fresh(
            lambda: nn.Linear(*self.features, bias=self.bias),
            seed,
            training=self.training,
            dtype=self.dtype,
        )
        generator = torch.Generator().manual_seed(seed + 1)
        shift = tensor_of(self.shift, generator, self.shift_dtype or self.dtype)

        def value(spec: object) -> object:
            return tensor_of(spec, generator, self.dtype) if isinstance(spec, T) else spec

        return Trial(
            args=(proj, shift),
            model=proj,
            inputs=tuple(tuple(value(spec) for spec in row) for row in self.inputs),
            watch=(shift,),
            forbidden=NO_TRACING,
            meanwhile=self._for_somebody_else if self.another else None,
        )

    def _for_somebody_else(self, answer: Callable[..., object]) -> None:
        """Have the answer build a module of the same shapes."""
        answer(nn.Linear(*self.features, bias=self.bias), torch.rand(self.shift.shape))
