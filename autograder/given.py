"""Modules and functions that the course provides and that your graphs may call.

``from autograder.given import LinearReLU``, or ``import quantize, dequantize``. The import alone
registers an operator, ``torch.ops.fxcourse.rms_norm``. The networks and comparisons of
`autograder.alive` are also here, and names of PyTorch that are private or may change: see `_LATE`.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch
from torch import nn
from torch.overrides import handle_torch_function, has_torch_function_unary

from autograder.alive import (
    VacuousComparison,
    assert_same_results,
    difference,
    images,
    layer_effects,
    make_alive,
)
from autograder.core.torch_private import memory_of

__all__ = [
    "LinearReLU",
    "VacuousComparison",
    "assert_same_results",
    "dequantize",
    "difference",
    "images",
    "layer_effects",
    "make_alive",
    "memory_of",
    "quantize",
    "rms_norm",
]

_LATE = {
    "annotate": "torch.fx.traceback",
    "aot_autograd": "torch._dynamo.backends.common",
    "make_boxed_func": "torch._functorch._aot_autograd.utils",
    "make_fx": "torch.fx.experimental.proxy_tensor",
    "preserve_node_meta": "torch.fx.traceback",
}
"""Names that PyTorch does not promise to keep, with their modules. These are imported when a
chapter asks for a name, because some take seconds."""


def __getattr__(name: str) -> Any:
    """A name of `_LATE`."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATE[name]), name)


class LinearReLU(nn.Module):
    """A linear layer and the ReLU after it, as one module.

    It represents a fused kernel: one call in the graph instead of two. It contains the given
    linear layer itself, not a copy, so the parameters stay shared with the model.

    Attributes:
        linear: the linear layer.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.linear = linear

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """``relu(linear(input))``, for inputs of shape ``(..., in_features)``."""
        return torch.relu(self.linear(input))


def quantize(x: torch.Tensor, scale: float) -> torch.Tensor:
    """The values of a tensor as integers from -128 to 127, in units of `scale`."""
    # A Proxy handles the call, as for PyTorch's own functions. So a trace contains one call of this
    # function wherever it is called, without `fx.wrap`.
    if has_torch_function_unary(x):
        return handle_torch_function(quantize, (x,), x, scale)
    return (x / scale).round().clamp(-128, 127).to(torch.int8)


def dequantize(q: torch.Tensor, scale: float) -> torch.Tensor:
    """The numbers that quantized values represent."""
    if has_torch_function_unary(q):
        return handle_torch_function(dequantize, (q,), q, scale)
    return q.to(torch.float32) * scale


@torch.library.custom_op("fxcourse::rms_norm", mutates_args=())
def rms_norm(x: torch.Tensor, weight: torch.Tensor | None, eps: float) -> torch.Tensor:
    """``x * rsqrt(mean(x²) + eps)`` over the last dimension, times the weight if there is one.

    It represents a fused kernel. It computes in float32, and returns the dtype of `x`.
    """
    wide = x.float()
    normed = (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype)
    return normed if weight is None else (normed * weight).to(x.dtype)


@rms_norm.register_fake
def _(x: torch.Tensor, weight: torch.Tensor | None, eps: float) -> torch.Tensor:
    return torch.empty_like(x)
