"""The slope of a function, by PyTorch's own differentiation: how random functions are kept tame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def slope(fn: Callable[..., Any], x: torch.Tensor, times: int) -> torch.Tensor:
    """The elementwise derivative of `fn` at `x`, in double precision."""
    with torch.enable_grad():
        x = x.detach().double().requires_grad_()
        y = fn(x)
        for _ in range(times):
            if not (isinstance(y, torch.Tensor) and y.requires_grad):
                return torch.zeros_like(x)
            (y,) = torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)
    return y.detach()
