"""How PyTorch is mended for a moment, to tell one bug from another."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from torch import fx


@contextmanager
def instead(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Another function in the place of one of PyTorch's; it is made from that one."""
    original = getattr(owner, name)
    with mock.patch.object(owner, name, functools.wraps(original)(make(original))):
        yield


def nodes_are(gm: fx.GraphModule, test: Callable[[fx.Node], bool]) -> bool:
    """Whether a graph has a node of a kind."""
    return any(test(node) for node in gm.graph.nodes)


_WRITING_FUNCTIONS = frozenset({"setitem", "iadd", "isub", "imul", "itruediv", "ior", "iand"})


def writes(node: fx.Node) -> bool:
    """Whether a call changes a tensor that it is given, or a buffer."""
    if node.op == "call_method":
        return writing_method(node)
    if node.op == "call_function":
        return writing_function(node)
    return node.op == "call_module" and writing_module(node)


def writing_method(node: fx.Node) -> bool:
    """Whether a method writes: its name ends in one underscore."""
    name = str(node.target)
    return node.op == "call_method" and (
        (name.endswith("_") and not name.endswith("__")) or name == "__setitem__"
    )


def writing_function(node: fx.Node) -> bool:
    """Whether a function writes: by its name, `out=` or `inplace=True`."""
    if node.op != "call_function":
        return False
    name = getattr(node.target, "__name__", "")
    return (
        (name.endswith("_") and not name.endswith("__"))
        or name in _WRITING_FUNCTIONS
        or node.kwargs.get("out") is not None
        or node.kwargs.get("inplace") is True
    )


def writing_module(node: fx.Node) -> bool:
    """Whether a module writes: in place, or to its statistics."""
    if node.op != "call_module" or node.graph.owning_module is None:
        return False
    module = node.graph.owning_module.get_submodule(str(node.target))
    statistics = getattr(module, "track_running_stats", False) and module.training
    return getattr(module, "inplace", False) is True or bool(statistics)
