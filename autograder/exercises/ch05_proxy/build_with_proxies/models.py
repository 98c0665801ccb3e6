"""The watched functions of `build_with_proxies`, and inputs for its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import fx

from autograder.authoring.models import T, Trial, arguments

WATCHED = (
    (fx.Tracer, "trace", "anywhere"),
    (fx.proxy.GraphAppendingTracer, "create_proxy", "anywhere"),
)
"""The watched functions: the first is forbidden, the second required."""


@dataclass(frozen=True)
class InputsTrial:
    """Builds a trial that has only inputs for the returned module."""

    inputs: tuple[Sequence[T], ...]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        generator = torch.Generator().manual_seed(seed)
        made = tuple(arguments(row, generator, torch.float64) for row in self.inputs)
        return Trial(inputs=made, forbidden=WATCHED)
