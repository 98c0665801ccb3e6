"""Renames the nodes of a graph, so that an answer cannot rely on the names of a trace."""

from __future__ import annotations

import torch
from torch import fx

from autograder.core.exercise import Trial
from autograder.core.torch_private import rename


def renumbered() -> fx.GraphModule:
    """A graph module whose node names differ from those of a fresh trace."""

    def forward(x):
        return torch.sin(torch.cos(x) + 1 + 2) + 3

    gm = fx.symbolic_trace(forward)
    first = next(node for node in gm.graph.nodes if node.name == "add")
    first.replace_all_uses_with(first.args[0])
    gm.graph.erase_node(first)
    gm.recompile()
    return gm


def renamed(gm: fx.GraphModule) -> None:
    """Give the nodes names that a fresh trace would not give them."""
    for i, node in enumerate(gm.graph.nodes):
        if node.op not in ("placeholder", "output"):
            rename(node, f"value_{i}")
    gm.recompile()


def perhaps_renamed(trial: Trial, choice: int) -> Trial:
    """Rename the nodes of some random models that are graph modules, depending on `choice`."""
    if isinstance(trial.model, fx.GraphModule) and choice % 4 > 1:
        renamed(trial.model)
    return trial
