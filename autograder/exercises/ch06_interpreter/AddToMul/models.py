"""Entries for the `meta` of nodes, and models, for `AddToMul`."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import fx, nn
from torch.overrides import handle_torch_function, has_torch_function

from autograder.authoring.models import TracedInPart, Trial
from autograder.models import networks
from autograder.models.running import on_a_trace


def add(x, y):
    """Compute something else than `torch.add`, which has the same name.

    Every trace records a call as one node, without `fx.wrap`. With `fx.wrap`, FX would write to the
    node's `meta`, and an answer that copies `meta` after generating the code would get other code.
    """
    if has_torch_function((x, y)):
        return handle_torch_function(add, (x, y), x, y)
    return x - y * 0.5


class AddAndShift(nn.Module):
    """A part that adds, after a function `add` that does not."""

    def __init__(self):
        super().__init__()
        self.shift = networks.Shift()

    def forward(self, x, y):
        return self.shift(add(x, y) + y)


def with_a_leaf() -> fx.GraphModule:
    """A graph in which the part that adds is one node, so no node is an addition."""
    return TracedInPart(AddAndShift)()


class AddsNothing(nn.Module):
    """The model adds zero in every spelling; Python's `sum` begins with `0 + x`."""

    def forward(self, x, y):
        return sum([x, y]) - torch.add(x, 0) * y.add(0.0)


def tag_all(gm: fx.GraphModule) -> None:
    """Give every node a mark and a size."""
    for i, node in enumerate(gm.graph.nodes):
        node.meta["mark"] = f"made for {node.name}"
        node.meta["size"] = (i, [i + 1])
        node.meta["_note"] = -i


def tag_as_pytorch(gm: fx.GraphModule) -> None:
    """Give every node entries under keys that PyTorch also writes.

    PyTorch writes the first when it makes a node, and the others to describe its value in a run.
    """
    for i, node in enumerate(gm.graph.nodes):
        node.meta["seq_nr"] = 100 + i
        node.meta["val"] = node.meta["tensor_meta"] = (2, i)


def tag_some(gm: fx.GraphModule) -> None:
    """Give every second node its own mark."""
    for i, node in enumerate(gm.graph.nodes):
        if i % 2 == 0:
            node.meta["mark"] = {"place": i}


def tagged(trial: Trial, choice: int) -> Trial:
    """The trial of a class that takes a graph module, with entries in the `meta` of its nodes."""
    trial = on_a_trace(trial, choice)
    tags: tuple[Callable[[fx.GraphModule], None], ...] = (tag_all, tag_some)
    tags[choice % 2](trial.model)
    return trial
