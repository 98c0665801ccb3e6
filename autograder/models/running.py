"""Builders of models with inputs, traced or not, for the cases of chapters 06 and 06b."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import fx, nn

from autograder.core.exercise import Trial
from autograder.models.build import arguments, fresh
from autograder.models.networks import real
from autograder.models.renaming import renamed

Make = Callable[[], nn.Module]


# ------------------------------------------------------------------ hand-picked cases


@dataclass(frozen=True, init=False)
class Exactly:
    """A tensor with the given values; with a shape, a single value is repeated."""

    values: tuple[Any, ...]
    dtype: torch.dtype
    shape: tuple[int, ...] | None

    def __init__(
        self,
        *values: Any,
        dtype: torch.dtype = torch.float64,
        shape: tuple[int, ...] | None = None,
    ) -> None:
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "shape", shape)

    def tensor(self) -> torch.Tensor:
        """Make the tensor."""
        made = torch.tensor(self.values, dtype=self.dtype)
        return made if self.shape is None else made.expand(self.shape).contiguous()


def filled(spec: Any) -> Any:
    """Replace each `Exactly` by a tensor, also within lists, tuples and dictionaries."""
    if isinstance(spec, Exactly):
        return spec.tensor()
    if isinstance(spec, dict):
        return {key: filled(item) for key, item in spec.items()}
    if isinstance(spec, (list, tuple)):
        return type(spec)(filled(item) for item in spec)
    return spec


@dataclass(frozen=True, eq=False)
class RunTrial:
    """Builds the objects of ``answer(model, *inputs)``."""

    make: Make
    inputs: tuple[Any, ...]
    prepare: Callable[[nn.Module], Any] | None = None
    network: bool = False

    def __call__(self, seed: int) -> Trial:
        """Make a new trial."""
        model = real(self.make, seed) if self.network else fresh(self.make, seed)
        if self.prepare is not None:
            with torch.no_grad():
                self.prepare(model)
        generator = torch.Generator().manual_seed(seed + 1)
        kind = torch.float32 if self.network else torch.float64
        given = arguments(filled(self.inputs), generator, kind)
        return Trial(args=(model, *given), model=model, inputs=(given,))


@dataclass(frozen=True, eq=False)
class ClassTrial:
    """Builds the objects of a class that takes a graph module.

    A graph module is passed unchanged: its leaves may be those of a custom tracer.
    """

    make: Make
    inputs: tuple[tuple[Any, ...], ...]
    tag: Callable[[fx.GraphModule], None] | None = None
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def __call__(self, seed: int) -> Trial:
        """Make a new trial."""
        model = fresh(self.make, seed)
        gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
        if self.tag is not None:
            self.tag(gm)
        generator = torch.Generator().manual_seed(seed + 1)
        given = tuple(arguments(filled(specs), generator, torch.float64) for specs in self.inputs)
        return Trial(args=(gm,), model=gm, inputs=given, functions=dict(self.functions))


# ------------------------------------------------------------------ random models


def on_a_trace(trial: Trial, choice: int) -> Trial:
    """Make the trial of a class that takes a graph module: trace the model."""
    gm = fx.symbolic_trace(trial.model)
    return replace(trial, args=(gm,), model=gm)


def with_inputs(trial: Trial, choice: int) -> Trial:
    """Make the trial of ``answer(model, *inputs)``."""
    given = trial.inputs[-(choice % 4 == 1)]
    if isinstance(trial.model, fx.GraphModule) and choice % 4 > 1:
        renamed(trial.model)
    return replace(trial, args=(trial.model, *given), inputs=(given,))
