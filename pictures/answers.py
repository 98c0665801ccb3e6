"""The answers that the pictured cards are about, as a learner could write them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn


# This is wrong: it forgets one spelling, the method `a.add(b)`.
def add_to_mul(model: nn.Module) -> fx.GraphModule:
    """Replace every addition of `model` by a multiplication, however it is written."""
    gm = fx.symbolic_trace(model)
    products = {torch.add: torch.mul, operator.add: operator.mul}
    for node in gm.graph.nodes:
        if node.target in products and node.kwargs.get("alpha", 1) == 1:
            node.target = products[node.target]
            node.kwargs = {key: value for key, value in node.kwargs.items() if key != "alpha"}
    gm.recompile()
    return gm


# This is wrong: it does not generate the code again. The sample chapter shows it as it is.
def retarget(model: nn.Module, old: Callable[..., Any], new: Callable[..., Any]) -> fx.GraphModule:
    """Replace every call of the function `old` in `model` by a call of `new`."""
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is old:
            node.target = new
    return gm


def retarget_and_recompile(
    model: nn.Module, old: Callable[..., Any], new: Callable[..., Any]
) -> fx.GraphModule:
    """The first attempt with the line that was missing."""
    gm = retarget(model, old, new)
    gm.recompile()
    return gm


# This is wrong: the relu reads itself in the end. The picture of its steps shows when.
def relu_after_add(model: nn.Module) -> fx.GraphModule:
    """Insert a ReLU after every addition of `model`."""
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target in (torch.add, operator.add):
            with gm.graph.inserting_after(node):
                relu = gm.graph.call_function(torch.relu, (node,))
            node.replace_all_uses_with(relu)
    gm.recompile()
    return gm
