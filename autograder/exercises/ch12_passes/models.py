"""Shared reports of chapter 12 about graph modules, for the answer's process and the judge."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch.nn import functional as F

Row = tuple[Any, ...]


def target_text(target: Any) -> str:
    """A target as code; two functions with the same name have different texts.

    Functions from one factory provide their own text.
    """
    if isinstance(target, str):
        return target
    if written := getattr(target, "written", ""):
        return str(written)
    name = str(getattr(target, "__name__", target))
    for written, module in (("operator", operator), ("torch", torch), ("F", F)):
        if getattr(module, name, None) is target:
            return f"{written}.{name}"
    return f"{getattr(target, '__module__', 'torch')}.{name}"


def rows_of(gm: fx.GraphModule) -> list[Row]:
    """A record of each node: opcode, name, target, inputs, and `meta`."""
    return [
        (node.op, node.name, target_text(node.target), node.args, node.kwargs, meta_text(node))
        for node in gm.graph.nodes
    ]


def meta_text(node: fx.Node) -> str:
    """A node's `meta` as text."""
    return ", ".join(f"{key}={node.meta[key]}" for key in sorted(node.meta, key=str))


def is_recompiled(gm: fx.GraphModule) -> bool:
    """Whether a module's code matches its graph."""
    return bool(gm.code == gm.graph.python_code("self").src)


def attempt(call: Callable[..., Any], *inputs: Any) -> tuple[str, Any]:
    """The result of a call: a value or the exception."""
    try:
        return "value", call(*inputs)
    except Exception as error:
        first = next(iter(str(error).splitlines()), "")
        return "raised", f"{type(error).__name__}: {first}"[:300]
