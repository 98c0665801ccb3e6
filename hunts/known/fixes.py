"""Temporary fixes of PyTorch, to tell one bug from another."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from torch import fx, nn

from autograder.core.torch_private import BatchNorm


@contextmanager
def instead(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Replace one of PyTorch's functions by a function that is made from it."""
    original = getattr(owner, name)
    with mock.patch.object(owner, name, functools.wraps(original)(make(original))):
        yield


def nodes_are(gm: fx.GraphModule, test: Callable[[fx.Node], bool]) -> bool:
    """Whether a graph has a node that passes a test."""
    return any(test(node) for node in gm.graph.nodes)


_IN_PLACE = frozenset(
    "setitem iadd isub imul imatmul itruediv ifloordiv imod ipow ilshift irshift iand ior "
    "ixor".split()
)
"""Operators in place: functions of `operator`, and methods with two underscores on each side."""

_METHODS_IN_PLACE = frozenset(f"__{name}__" for name in _IN_PLACE)


_DRAWING = frozenset(
    "rand rand_like randn randn_like randint randint_like bernoulli normal poisson multinomial "
    "dropout alpha_dropout feature_alpha_dropout dropout1d dropout2d dropout3d rrelu".split()
)
_DRAWING_LAYERS = (nn.modules.dropout._DropoutNd, nn.RReLU)


def draws(node: fx.Node) -> bool:
    """Whether a call draws random numbers."""
    if node.op == "call_module":
        module = _module_of(node)
        return isinstance(module, _DRAWING_LAYERS) and module.training
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    return node.op in ("call_function", "call_method") and name in _DRAWING


def has_effect(node: fx.Node) -> bool:
    """Whether the order of a call relative to others matters."""
    return writes(node) or draws(node)


def writes(node: fx.Node) -> bool:
    """Whether a call changes one of its arguments, or a buffer."""
    if node.op == "call_method":
        return writing_method(node)
    if node.op == "call_function":
        return writing_function(node)
    return node.op == "call_module" and writing_module(node)


def writing_method(node: fx.Node) -> bool:
    """Whether a method writes: its name ends in one underscore, or is an operator in place."""
    name = str(node.target)
    return node.op == "call_method" and (
        (name.endswith("_") and not name.endswith("__")) or name in _METHODS_IN_PLACE
    )


def writing_function(node: fx.Node) -> bool:
    """Whether a function writes, according to its name, `out=` or `inplace=True`."""
    if node.op != "call_function":
        return False
    name = getattr(node.target, "__name__", "")
    return (
        (name.endswith("_") and not name.endswith("__"))
        or name in _IN_PLACE
        or node.kwargs.get("out") is not None
        or node.kwargs.get("inplace") is True
    )


def _module_of(node: fx.Node) -> nn.Module | None:
    owner = node.graph.owning_module
    return owner.get_submodule(str(node.target)) if node.op == "call_module" and owner else None


def writing_module(node: fx.Node) -> bool:
    """Whether a module writes in place, or to its running statistics."""
    module = _module_of(node)
    statistics = isinstance(module, BatchNorm) and module.track_running_stats and module.training
    return getattr(module, "inplace", False) is True or bool(statistics)
