"""The text of a node's `meta["val"]`; such values have shapes and no numbers."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

NUMBERS = (bool, int, float, str, torch.SymInt, torch.SymFloat, torch.SymBool, type(None))


def mode_of(graph: fx.Graph) -> Any:
    """The mode of the first fake tensor in a graph's `meta["val"]`; ``None`` if there is none."""
    modes = (getattr(node.meta.get("val"), "fake_mode", None) for node in graph.nodes)
    return next((mode for mode in modes if mode is not None), None)


def val_text(val: Any, mode: Any) -> str:
    """Describe a `val`: for a tensor, its dtype and shape, and whether it is fake.

    Args:
        val: the value of a node's `meta["val"]`.
        mode: the mode of the graph's fake tensors.
    """
    if isinstance(val, torch.Tensor):
        own = getattr(val, "fake_mode", None)
        kind = "" if own is mode else ", of another mode" if own is not None else ", and not fake"
        return f"{str(val.dtype).removeprefix('torch.')} {list(val.shape)}{kind}"
    if isinstance(val, (tuple, list)):
        return f"({', '.join(val_text(item, mode) for item in val)})"
    return str(val) if isinstance(val, NUMBERS) else type(val).__name__
