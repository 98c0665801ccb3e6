"""An oracle shared by two exercises: it replaces additions by multiplications."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx


class AddsByMultiplying(fx.Interpreter):
    """Runs a model, but multiplies tensors that the model adds.

    An `alpha` that is a node is not 1, even if its value is 1; sizes are not tensors.
    """

    def run_node(self, n: fx.Node) -> Any:
        """Run a node; one with a computed `alpha` unchanged."""
        if isinstance(n.kwargs.get("alpha"), fx.Node):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(super(), n.op)(n.target, args, kwargs)
        return super().run_node(n)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Run a function or operator."""
        if target in (torch.add, operator.add):
            return _added(target, *args, **kwargs)
        return super().call_function(target, args, kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Run a method."""
        if target == "add":
            return _added(torch.add, *args, **kwargs)
        return super().call_method(target, args, kwargs)


def _added(target: Any, input: Any, other: Any, alpha: Any = 1) -> Any:
    if not any(isinstance(value, torch.Tensor) for value in (input, other)):
        return target(input, other)
    return input * other if alpha == 1 else target(input, other, alpha=alpha)
