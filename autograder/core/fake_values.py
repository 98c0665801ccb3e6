"""The text of a node's `meta["val"]`; such values have shapes and no numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import fx

from autograder.core.torch_private import memory_of

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


def tensors_of(val: Any) -> Iterator[torch.Tensor]:
    """The tensors of a `val` that have memory, also within tuples and lists."""
    if isinstance(val, torch.Tensor) and val.layout is torch.strided:
        yield val
    elif isinstance(val, (tuple, list)):
        for item in val:
            yield from tensors_of(item)


def memory_numbers(nodes: Iterable[fx.Node]) -> list[list[int]]:
    """For each node, a number for the memory of each tensor of its `val`.

    Memories are numbered in the order of the nodes. Values that share memory have the same number.
    """
    numbers: dict[int, int] = {}
    return [
        [numbers.setdefault(memory_of(tensor), len(numbers)) for tensor in tensors_of(val)]
        for val in (node.meta.get("val") for node in nodes)
    ]
