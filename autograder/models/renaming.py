"""Random models that are graph modules, with names that a fresh trace does not give."""

from __future__ import annotations

from torch import fx

from autograder.core.exercise import Trial
from autograder.core.torch_private import rename


def perhaps_renamed(trial: Trial, choice: int) -> Trial:
    """The nodes of some graph modules have names that a fresh trace does not give them."""
    if isinstance(trial.model, fx.GraphModule) and choice % 4 > 1:
        for i, node in enumerate(trial.model.graph.nodes):
            if node.op not in ("placeholder", "output"):
                rename(node, f"value_{i}")
        trial.model.recompile()
    return trial
