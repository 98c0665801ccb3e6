"""A model that exercises of chapter 07 share."""

from __future__ import annotations

import torch
from torch import fx


def renumbered() -> fx.GraphModule:
    """A graph module whose nodes are called otherwise in a fresh trace."""

    def forward(x):
        return torch.sin(torch.cos(x) + 1 + 2) + 3

    gm = fx.symbolic_trace(forward)
    first = next(node for node in gm.graph.nodes if node.name == "add")
    first.replace_all_uses_with(first.args[0])
    gm.graph.erase_node(first)
    gm.recompile()
    return gm
