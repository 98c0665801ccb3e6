"""An oracle of two exercises: additions multiply."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx


class AddsByMultiplying(fx.Interpreter):
    """Computes what a model does, but multiplies where it adds."""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Functions and operators."""
        if target in (torch.add, operator.add):
            return _added(target, *args, **kwargs)
        return super().call_function(target, args, kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Methods."""
        if target == "add":
            return _added(torch.add, *args, **kwargs)
        return super().call_method(target, args, kwargs)


def _added(target: Any, input: Any, other: Any, alpha: Any = 1) -> Any:
    return input * other if alpha == 1 else target(input, other, alpha=alpha)
