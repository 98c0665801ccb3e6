"""Inputs that an answer returns, as plain data.

Tensors may share memory, so an in-place operation on one can change another. The data therefore
contains each piece of memory once, and for each tensor its part of that memory.
"""

from __future__ import annotations

from typing import Any, TypedDict

import torch

from autograder.core.codec import Decoder, Encoded, Encoder, Tagged, leaves

MOST_NUMBERS = 100_000
"""Limit of the numbers in all arguments together."""


class InputsRecord(TypedDict):
    """Arguments whose tensors are indices of `views`: memory, shape, strides, offset."""

    values: Encoded
    views: list[View]


View = list[Any]


class _Views(Encoder):
    """Encodes values, with a tensor as its index in `views`."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.views: list[View] = []
        self._table = encoder
        self._memory: dict[tuple[int, torch.dtype], int] = {}

    def tensor(self, value: torch.Tensor) -> Tagged:
        """Add a view: the memory of the tensor, and its part of that memory."""
        if value.layout is not torch.strided or value.device.type != "cpu" or value.is_quantized:
            raise ValueError("a tensor that is not dense, or not on the CPU")
        value = value.detach().resolve_conj().resolve_neg()
        storage = value.untyped_storage()
        key = storage.data_ptr() or id(value), value.dtype
        if key not in self._memory:
            whole = torch.empty(0, dtype=value.dtype).set_(storage)
            self._memory[key] = self._table.tensor(whole)["tensor"]
        place = [list(value.shape), list(value.stride()), value.storage_offset()]
        self.views.append([self._memory[key], *place])
        return {"tensor": len(self.views) - 1}


def describe_inputs(inputs: tuple[Any, ...], encoder: Encoder) -> InputsRecord:
    """Encode arguments as plain data.

    Args:
        inputs: the arguments.
        encoder: takes the memory of their tensors.

    Raises:
        ValueError: an argument has no plain form, or they are too large.
    """
    views = _Views(encoder)
    data = views.encode(tuple(inputs))
    for leaf in leaves(data):
        if "opaque" in leaf or "unlisted" in leaf:
            raise ValueError(f"a `{next(iter(leaf.values()))}`")
    if sum(encoder.tensors[i].numel() for i in {view[0] for view in views.views}) > MOST_NUMBERS:
        raise ValueError(f"more than {MOST_NUMBERS:,} numbers")
    return {"values": data, "views": views.views}


def inputs_of(data: InputsRecord, tensors: list[torch.Tensor]) -> tuple[Any, ...]:
    """The inverse of `describe_inputs`: new arguments, which share memory as the originals did.

    Raises:
        ValueError: the data is inconsistent.
    """
    memory: dict[int, torch.Tensor] = {}
    views = []
    try:
        for place, shape, stride, offset in data["views"]:
            if place not in memory:
                memory[place] = tensors[place].clone()
            views.append(memory[place].as_strided(shape, stride, offset))
        return tuple(Decoder(views).decode(data["values"]))
    except (IndexError, KeyError, RuntimeError, TypeError) as error:
        raise ValueError(f"the inputs do not fit together ({error})"[:300]) from None
