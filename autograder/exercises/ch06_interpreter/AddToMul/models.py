"""What stands in the `meta` of nodes: for `AddToMul`."""

from __future__ import annotations

from collections.abc import Callable

from torch import fx

from autograder.core.exercise import Trial
from autograder.models.running import on_a_trace


def tag_all(gm: fx.GraphModule) -> None:
    """Give every node a mark and a size."""
    for i, node in enumerate(gm.graph.nodes):
        node.meta["mark"] = f"made for {node.name}"
        node.meta["size"] = (i, [i + 1])
        node.meta["_note"] = -i


def tag_as_pytorch(gm: fx.GraphModule) -> None:
    """Give every node a number under a key that PyTorch writes, too, when a node is made."""
    for i, node in enumerate(gm.graph.nodes):
        node.meta["seq_nr"] = 100 + i


def tag_some(gm: fx.GraphModule) -> None:
    """Give every second node a mark of its own."""
    for i, node in enumerate(gm.graph.nodes):
        if i % 2 == 0:
            node.meta["mark"] = {"place": i}


def tagged(trial: Trial, choice: int) -> Trial:
    """The case of a class that is given a graph module, with something in its nodes' meta."""
    trial = on_a_trace(trial, choice)
    tags: tuple[Callable[[fx.GraphModule], None], ...] = (tag_all, tag_some)
    tags[choice % 2](trial.model)
    return trial
