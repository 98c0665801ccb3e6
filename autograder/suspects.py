"""Passes that look right but are wrong: the suspects of the duels.

``from autograder import suspects``, then ``suspects.by_name(gm)``. Each takes a `GraphModule`,
changes it or makes another one, and returns the result. Some are PyTorch's own.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch import fx
from torch.fx.experimental import optimization
from torch.fx.passes.dialect.common.cse_pass import CSEPass
from torch.fx.passes.split_module import split_module
from torch.fx.passes.tools_common import legalize_graph
from torch.nn import functional as F

__all__ = [
    "by_name",
    "dead_code",
    "double_negation",
    "equal_calls",
    "inputs_first",
    "plus_zero",
    "relu_rule",
    "self_loop",
    "shared_conv",
    "split_by_kind",
]


def _replace_node(gm: fx.GraphModule, old: fx.Node, new: fx.Node) -> None:
    """Let all readers of one node read another one, and erase the first."""
    old.replace_all_uses_with(new)
    gm.graph.erase_node(old)


def self_loop(gm: fx.GraphModule) -> fx.GraphModule:
    """Inserts a `torch.relu` after every `torch.add`, like a page of PyTorch's documentation."""
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.target is torch.add:
            with gm.graph.inserting_after(node):
                relu = gm.graph.call_function(torch.relu, (node,))
                node.replace_all_uses_with(relu)
    gm.recompile()
    return gm


def by_name(gm: fx.GraphModule) -> fx.GraphModule:
    """Replaces calls of `torch.relu` and `F.relu` by GELU; it finds them by their nodes' names."""
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.name.startswith("relu"):
            given = node.args[0] if node.args else node.kwargs["input"]
            with gm.graph.inserting_after(node):
                gelu = gm.graph.call_function(F.gelu, (given,))
            _replace_node(gm, node, gelu)
    gm.recompile()
    return gm


def relu_rule(gm: fx.GraphModule) -> fx.GraphModule:
    """Replaces `torch.relu(x)` by simpler operations: `(x > 0) * x`."""
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and node.target is torch.relu:
            x = node.args[0] if node.args else node.kwargs["input"]
            with gm.graph.inserting_before(node):
                positive = gm.graph.call_function(operator.gt, (x, 0))
                product = gm.graph.call_function(operator.mul, (positive, x))
            _replace_node(gm, node, product)
    gm.recompile()
    return gm


def dead_code(gm: fx.GraphModule) -> fx.GraphModule:
    """Removes unused nodes: PyTorch's own `Graph.eliminate_dead_code`."""
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


_SUMS = (operator.add, torch.add, "add")
_DIFFERENCES = (operator.sub, torch.sub, "sub")
_PRODUCTS = (operator.mul, torch.mul, "mul")


def plus_zero(gm: fx.GraphModule) -> fx.GraphModule:
    """Removes `x + 0`, `x - 0` and `x * 1`."""
    for node in list(gm.graph.nodes):
        for kept in _without_effect(node):
            _replace_node(gm, node, kept)
            break
    gm.recompile()
    return gm


def _without_effect(node: fx.Node) -> Iterator[fx.Node]:
    """Yield the operand that replaces a sum or difference with zero, or a product with one."""
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
    """Merges equal calls into one: PyTorch's own `CSEPass`."""
    result = CSEPass()(gm)
    return gm if result is None else result.graph_module


def shared_conv(gm: fx.GraphModule) -> fx.GraphModule:
    """Fuses each BatchNorm into the layer before it: PyTorch's own `optimization.fuse`."""
    fused = optimization.fuse(gm, no_trace=True)
    assert isinstance(fused, fx.GraphModule)
    return fused


def double_negation(gm: fx.GraphModule) -> fx.GraphModule:
    """Replaces `torch.neg(torch.neg(a))` by `a`, with PyTorch's own `fx.replace_pattern`."""
    fx.replace_pattern(gm, _negated_twice, _as_it_was)
    return gm


def _negated_twice(a: torch.Tensor) -> torch.Tensor:
    return torch.neg(torch.neg(a))


def _as_it_was(a: torch.Tensor) -> torch.Tensor:
    return a


def inputs_first(gm: fx.GraphModule) -> fx.GraphModule:
    """Sorts the nodes so that each comes after its inputs: PyTorch's own `legalize_graph`."""
    legalize_graph(gm)
    gm.recompile()
    return gm


def split_by_kind(gm: fx.GraphModule) -> fx.GraphModule:
    """Moves all calls of one `op` into a piece, with PyTorch's own `split_module`.

    The pieces are then merged into one graph again, to show the order of all calls. If the pieces
    depend on each other in a cycle, the module is returned unchanged.
    """
    kinds: dict[str, int] = {}
    try:
        pieces = split_module(gm, gm, lambda node: kinds.setdefault(node.op, len(kinds)))
    except RuntimeError:  # the pieces form a cycle
        return gm
    return fx.GraphModule(pieces, _in_one_graph(pieces))


def _in_one_graph(pieces: fx.GraphModule) -> fx.Graph:
    """Merge the calls of all pieces into one graph, in execution order."""
    graph = fx.Graph()
    made: dict[fx.Node, Any] = {}
    for node in pieces.graph.nodes:
        if node.op == "call_module":
            made[node] = _inline_piece(graph, pieces, node, made)
        elif node.target is operator.getitem:  # one of several results of a piece
            piece, index = node.args
            made[node] = made[piece][index]
        else:
            made[node] = graph.node_copy(node, made.__getitem__)
    return graph


def _inline_piece(
    graph: fx.Graph, pieces: fx.GraphModule, node: fx.Node, made: dict[fx.Node, Any]
) -> Any:
    """Copy the calls of a piece into a graph, and return its result there."""
    piece = pieces.get_submodule(str(node.target))
    assert isinstance(piece, fx.GraphModule)
    given = [made[value] for value in node.all_input_nodes]
    inner = dict(zip(piece.graph.find_nodes(op="placeholder"), given, strict=True))
    value = graph.graph_copy(piece.graph, inner)
    for copied in inner.values():
        if copied not in given and copied.op in ("call_module", "get_attr"):
            copied.target = f"{node.target}.{copied.target}"
    return value
