"""Builders of chapter 14's cases: graph modules whose graphs may call `quantize`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import Trial, arguments, fresh
from autograder.given import dequantize, quantize
from autograder.models.running import filled

GIVEN = {"quantize": quantize, "dequantize": dequantize}
"""The functions that the chapter defines, by their names in outcomes."""


def itself(model: nn.Module) -> fx.GraphModule:
    """Return the given graph module: an argument called `gm` is not traced again."""
    assert isinstance(model, fx.GraphModule)
    return model


def mark(gm: fx.GraphModule) -> None:
    """Add a distinct entry to the `meta` of every node."""
    for i, node in enumerate(gm.graph.nodes):
        node.meta["mark"] = f"made for {node.name}"
        node.meta["val"] = f"what {node.name} gives"
        node.meta["place"] = (i, [i + 1])


@dataclass(frozen=True, eq=False)
class GraphTrial:
    """Builds the objects of ``answer(gm, *more)``.

    Attributes:
        make: builds a model, which is traced, or a graph module.
        inputs: argument tuples for the result, tensors as `T` or `Exactly`.
        more: further arguments of the answer.
    """

    make: Callable[[], nn.Module]
    inputs: tuple[tuple[Any, ...], ...]
    more: tuple[Any, ...] = ()

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        gm = traced(fresh(self.make, seed, dtype=torch.float32))
        mark(gm)
        generator = torch.Generator().manual_seed(seed + 1)
        given = tuple(arguments(filled(specs), generator, torch.float32) for specs in self.inputs)
        more = arguments(self.more, generator, torch.float32)
        return Trial(args=(gm, *more), model=gm, inputs=given, functions=dict(GIVEN))


def traced(model: nn.Module) -> fx.GraphModule:
    """The trace of a model, or a graph module unchanged."""
    return model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)


def floats(value: Any) -> bool:
    """Whether a value is a floating tensor."""
    return isinstance(value, torch.Tensor) and value.is_floating_point()
