"""Passes that look right, and are not: the suspects of the duels in chapter 09.

``from autograder import suspects``, then ``suspects.by_name(gm)``. Each takes a `GraphModule`,
changes it or makes another, and returns what it has made. Some are PyTorch's own.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator

import torch
from torch import fx
from torch.fx.experimental import optimization
from torch.fx.passes.dialect.common.cse_pass import CSEPass
from torch.nn import functional as F

__all__ = [
    "by_name",
    "dead_code",
    "double_negation",
    "equal_calls",
    "plus_zero",
    "relu_rule",
    "self_loop",
    "shared_conv",
]


def _exchanged(gm: fx.GraphModule, old: fx.Node, new: fx.Node) -> None:
    """Have all that read one node read another, and erase it."""
    old.replace_all_uses_with(new)
    gm.graph.erase_node(old)


def self_loop(gm: fx.GraphModule) -> fx.GraphModule:
    """Puts a `torch.relu` behind every `torch.add`, as a page of PyTorch's documentation does."""
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.target is torch.add:
            with gm.graph.inserting_after(node):
                relu = gm.graph.call_function(torch.relu, (node,))
                node.replace_all_uses_with(relu)
    gm.recompile()
    return gm


def by_name(gm: fx.GraphModule) -> fx.GraphModule:
    """Makes GELU of calls of `torch.relu` and `F.relu`, which it knows by their nodes' names."""
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.name.startswith("relu"):
            given = node.args[0] if node.args else node.kwargs["input"]
            with gm.graph.inserting_after(node):
                gelu = gm.graph.call_function(F.gelu, (given,))
            _exchanged(gm, node, gelu)
    gm.recompile()
    return gm


def relu_rule(gm: fx.GraphModule) -> fx.GraphModule:
    """Writes `torch.relu(x)` in simpler operations: `(x > 0) * x`."""
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.target is torch.relu:
            x = node.args[0] if node.args else node.kwargs["input"]
            with gm.graph.inserting_before(node):
                positive = gm.graph.call_function(operator.gt, (x, 0))
                product = gm.graph.call_function(operator.mul, (positive, x))
            _exchanged(gm, node, product)
    gm.recompile()
    return gm


def dead_code(gm: fx.GraphModule) -> fx.GraphModule:
    """Takes out what nobody reads: PyTorch's own `Graph.eliminate_dead_code`."""
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


_SUMS = (operator.add, torch.add, "add")
_DIFFERENCES = (operator.sub, torch.sub, "sub")
_PRODUCTS = (operator.mul, torch.mul, "mul")


def plus_zero(gm: fx.GraphModule) -> fx.GraphModule:
    """Takes out `x + 0`, `x - 0` and `x * 1`."""
    for node in list(gm.graph.nodes):
        for kept in _without_effect(node):
            _exchanged(gm, node, kept)
            break
    gm.recompile()
    return gm


def _without_effect(node: fx.Node) -> Iterator[fx.Node]:
    """What a sum with zero, a difference with zero, or a product with one is taken for."""
    if node.op not in ("call_function", "call_method") or len(node.args) != 2 or node.kwargs:
        return
    first, second = node.args
    neutral = 1 if node.target in _PRODUCTS else 0
    if node.target in (*_SUMS, *_DIFFERENCES, *_PRODUCTS):
        if isinstance(first, fx.Node) and _is(second, neutral):
            yield first
    if node.target in (*_SUMS, *_PRODUCTS):
        if isinstance(second, fx.Node) and _is(first, neutral):
            yield second


def _is(value: object, number: int) -> bool:
    return isinstance(value, (int, float)) and value == number


def equal_calls(gm: fx.GraphModule) -> fx.GraphModule:
    """Makes one call of several equal ones: PyTorch's own `CSEPass`."""
    result = CSEPass()(gm)
    return gm if result is None else result.graph_module


def shared_conv(gm: fx.GraphModule) -> fx.GraphModule:
    """Fuses each BatchNorm into the layer before it: PyTorch's own `optimization.fuse`."""
    fused = optimization.fuse(gm, no_trace=True)
    assert isinstance(fused, fx.GraphModule)
    return fused


def double_negation(gm: fx.GraphModule) -> fx.GraphModule:
    """Makes `a` of `torch.neg(torch.neg(a))`, with PyTorch's own `fx.replace_pattern`."""
    fx.replace_pattern(gm, _negated_twice, _as_it_was)
    return gm


def _negated_twice(a: torch.Tensor) -> torch.Tensor:
    return torch.neg(torch.neg(a))


def _as_it_was(a: torch.Tensor) -> torch.Tensor:
    return a
