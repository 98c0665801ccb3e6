"""Builders of chapter 13's cases: graph modules that are passed without tracing again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import Trial, arguments, fresh, renamed


def itself(gm: nn.Module) -> fx.GraphModule:
    """Return the graph module unchanged."""
    assert isinstance(gm, fx.GraphModule)
    return gm


def tagged(gm: fx.GraphModule) -> fx.GraphModule:
    """Add distinct entries to the `meta` of each call."""
    for i, node in enumerate(node for node in gm.graph.nodes if node.op.startswith("call_")):
        node.meta["mark"] = f"made for {node.name}"
        node.meta["val"] = f"what {node.name} gives"
        node.meta["sizes"] = (i, [i + 1])
    return gm


def stirred(gm: fx.GraphModule) -> fx.GraphModule:
    """Change the order of `users`, as an edit would."""
    for node in reversed(list(gm.graph.nodes)):
        if node.op != "placeholder":
            node.args = node.args  # removes and adds the node as a user of its inputs
    return gm


def graph_module_of(model: nn.Module) -> fx.GraphModule:
    """The trace of a model, or a graph module unchanged."""
    return model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)


@dataclass(frozen=True, eq=False)
class Given:
    """Builds the trial of an answer that takes a graph module.

    Attributes:
        make: builds the model, or a graph module.
        more: further arguments of the answer.
        inputs: argument tuples for the result, tensors as `T`.
    """

    make: Callable[[], nn.Module]
    more: tuple[Any, ...] = ()
    inputs: tuple[tuple[Any, ...], ...] = ()

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        gm = tagged(graph_module_of(fresh(self.make, seed)))
        generator = torch.Generator().manual_seed(seed + 1)
        given = tuple(arguments(specs, generator, torch.float64) for specs in self.inputs)
        more = tuple(list(each) if isinstance(each, tuple) else each for each in self.more)
        return Trial(args=(gm, *more), model=gm, inputs=given, noted=True)


def as_graph_module(trial: Trial, choice: int) -> fx.GraphModule:
    """The graph module of a random trial: traced, and perhaps renamed or edited."""
    assert trial.model is not None
    gm = graph_module_of(trial.model)
    if choice % 3 == 1:
        renamed(gm)
    return stirred(tagged(gm)) if choice % 2 else tagged(gm)
