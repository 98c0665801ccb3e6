"""A tensor as the text of a call that makes it."""

from __future__ import annotations

import re

import torch

FEW_VALUES = 6
"""Largest number of values that a call shows."""

SHORT_VALUE = 8
"""Largest number of characters of a value that a person wrote; a random one has more."""


def tensor_text(tensor: torch.Tensor) -> str:
    """A call that makes a tensor of this shape and dtype, with the values if a person wrote them.

    An answer may depend on the values: `exp` of 800 is infinite, `exp` of 0 is not.
    """
    more = "" if tensor.dtype == torch.float32 else f", dtype={tensor.dtype}"
    more += ", device='meta'" if tensor.is_meta else ""
    more += ", requires_grad=True" if tensor.requires_grad else ""
    values = _values_text(tensor)
    if not values:
        others = tensor.is_floating_point() and not tensor.is_meta and bool(tensor.any())
        values = f"torch.{'rand' if others else 'zeros'}({tuple(tensor.shape)}"
    return f"{values}{more})"


def _values_text(tensor: torch.Tensor) -> str:
    """The beginning of a call with the values; `""` if they are many, long, all 0 or unknown."""
    plain = type(tensor) is torch.Tensor and tensor.layout is torch.strided
    if not plain or tensor.is_meta or tensor.is_quantized or tensor.numel() > FEW_VALUES:
        return ""
    values = tensor.detach().flatten().tolist()
    if not any(values) or any(len(repr(value)) > SHORT_VALUE for value in values):
        return ""
    return "torch.tensor(" + re.sub(r"\b(inf|nan)\b", r"math.\1", repr(tensor.tolist()))
