"""Shared reports of 12b about values in `meta`, for the answer's process and the judge."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx

from autograder.authoring.models import fake_tensor_class

Told = tuple[Any, ...]
"""The report about a value: a word for its kind, and its details."""


class Teller:
    """Describes the comparable properties of values: for tensors, everything except the numbers.

    A fake tensor's report includes the number of its mode; modes are numbered in order.
    """

    def __init__(self) -> None:
        self._modes: list[Any] = []

    def tell(self, value: Any) -> Told:
        """The report about a value, which may be nested."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, torch.Size):
            return "sizes", [self.tell(item) for item in value]
        if isinstance(value, (tuple, list)):
            word = "list" if isinstance(value, list) else "tuple"
            return word, [self.tell(item) for item in value]
        if isinstance(value, dict):
            return "dict", [(key, self.tell(item)) for key, item in value.items()]
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return "symbol", str(value)
        return "value", value

    def _tensor(self, value: torch.Tensor) -> Told:
        fake = isinstance(value, fake_tensor_class())
        return (
            "fake" if fake else "tensor",
            str(value.dtype).removeprefix("torch."),
            [*map(_size, value.shape)],
            [*map(_size, value.stride())] if value.layout is torch.strided else [],
            str(value.device),
            self._number(value.fake_mode) if fake else -1,
        )

    def _number(self, mode: Any) -> int:
        if all(mode is not known for known in self._modes):
            self._modes.append(mode)
        return next(i for i, known in enumerate(self._modes) if known is mode)


def _size(size: Any) -> Any:
    return size if type(size) is int else str(size)


def vals_of(gm: fx.GraphModule) -> list[tuple[str, Told | None]]:
    """The name of each node with the report about its `val`, or ``None`` if it has none."""
    teller = Teller()
    return [
        (node.name, teller.tell(node.meta["val"]) if "val" in node.meta else None)
        for node in gm.graph.nodes
    ]


def notes_of(gm: fx.GraphModule) -> list[dict[Any, Any]]:
    """The `meta` of each node without the entries about its value."""
    ours = ("val", "tensor_meta")
    return [
        {key: value for key, value in node.meta.items() if key not in ours}
        for node in gm.graph.nodes
    ]


@contextmanager
def nothing_logged() -> Iterator[None]:
    """Keep PyTorch from logging a traceback for each operator that fake tensors refuse."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
