"""The arguments of `build_by_hand`: a linear layer and a shift."""

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
        features: number of input and output features of the layer.
        shift: the shape of the shift.
        inputs: argument tuples for the result, tensors as `T`.
        training: whether the layer is in training mode.
        dtype: the dtype of all tensors.
        shift_dtype: the dtype of the shift, if it differs.
        another: whether the answer builds a second module before the result runs.
    """

    features: tuple[int, int]
    shift: T
    inputs: tuple[tuple[object, ...], ...]
    training: bool = False
    dtype: torch.dtype = torch.float64
    shift_dtype: torch.dtype | None = None
    another: bool = False

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        proj = fresh(
            lambda: nn.Linear(*self.features),
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
            meanwhile=self._build_another if self.another else None,
        )

    def _build_another(self, answer: Callable[..., object]) -> None:
        """Call the answer again, for a module of the same shapes."""
        answer(nn.Linear(*self.features), torch.rand(self.shift.shape))
