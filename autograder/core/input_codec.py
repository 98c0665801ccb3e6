"""Arguments that an answer brings itself, as plain data.

An in-place operation on one tensor shows in another that shares its memory. So the memory is
written down, each piece once, and of each tensor which part of it is its own.
"""

from __future__ import annotations

from typing import Any

import torch

from autograder.core.codec import Decoder, Encoder, Plain, leaves

MOST_NUMBERS = 100_000
"""So many numbers the arguments may hold together."""


class _Views(Encoder):
    """Encodes values; a tensor is spoken of by its place among `views`."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.views: list[Plain] = []
        self._table = encoder
        self._memory: dict[tuple[int, torch.dtype], int] = {}

    def tensor(self, value: torch.Tensor) -> Plain:
        """Note which part of which memory a tensor is."""
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


def describe_inputs(inputs: tuple[Any, ...], encoder: Encoder) -> Plain:
    """Arguments as plain data.

    Args:
        inputs: the arguments.
        encoder: takes the memory of their tensors.

    Raises:
        ValueError: something in them has no plain form, or they are too large.
    """
    views = _Views(encoder)
    data = views.encode(tuple(inputs))
    for leaf in leaves(data):
        if "opaque" in leaf or "unlisted" in leaf:
            raise ValueError(f"a `{next(iter(leaf.values()))}`")
    if sum(encoder.tensors[i].numel() for i in {view[0] for view in views.views}) > MOST_NUMBERS:
        raise ValueError(f"more than {MOST_NUMBERS:,} numbers")
    return {"values": data, "views": views.views}


def inputs_of(data: Plain, tensors: list[torch.Tensor]) -> tuple[Any, ...]:
    """The inverse of `describe_inputs`: fresh arguments, which share what they shared.

    Raises:
        ValueError: the data does not fit together.
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
