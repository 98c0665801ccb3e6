"""Shared parts of the right passes of several duels; not importable where answers run."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx


def as_it_is(gm: fx.GraphModule) -> fx.GraphModule:
    """Change nothing: right if the task is to keep what a model computes."""
    return gm


def argument(node: fx.Node, position: int, name: str) -> Any:
    """The argument of a call, by position or by name."""
    return node.args[position] if position < len(node.args) else node.kwargs.get(name)


def exchange(node: fx.Node, new: fx.Node) -> None:
    """Let all readers of a node read another one, and erase it."""
    node.replace_all_uses_with(new)
    node.graph.erase_node(node)


PURE = frozenset({
    torch.abs, torch.add, torch.cos, torch.exp, torch.mul, torch.neg, torch.relu, torch.sigmoid,
    torch.sin, torch.sub, torch.sum, torch.tanh, operator.add, operator.ge, operator.gt,
    operator.le, operator.lt, operator.mul, operator.neg, operator.sub, operator.truediv,
    "abs", "add", "clone", "cos", "exp", "mean", "mul", "neg", "relu", "sigmoid", "sin", "sub",
    "sum", "tanh",
})  # fmt: skip
"""Functions and methods that only compute a value."""

_HARMLESS = frozenset({"input", "other", "alpha", "dim", "keepdim"})


def is_pure(node: fx.Node) -> bool:
    """Whether a call certainly only computes a value."""
    plain = node.op in ("call_function", "call_method") and node.kwargs.keys() <= _HARMLESS
    return plain and node.target in PURE


def all_pure(gm: fx.GraphModule) -> bool:
    """Whether all calls of a graph certainly only compute values."""
    return all(is_pure(node) for node in gm.graph.nodes if node.op.startswith("call_"))
