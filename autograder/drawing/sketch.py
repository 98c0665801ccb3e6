"""Converts a graph to boxes with readable labels, one for each node, even if it is broken."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from torch import fx, nn

from autograder.core.node_label import Ref, label, one_line
from autograder.core.torch_private import own_buffers, own_modules
from autograder.core.verdict import NodeBox

MAX_NODES = 5_000
MAX_DEPTH = 40

FOREIGN = "foreign"
MISSING = "missing"
GHOSTS = (FOREIGN, MISSING)  # opcodes of boxes that are not nodes of the graph

Drawable = fx.GraphModule | fx.Graph | nn.Module | Callable[..., Any] | Sequence[NodeBox]


class CannotTrace(ValueError):
    """`fx.symbolic_trace` cannot trace the module or function to draw."""


def sketch(what: Drawable) -> tuple[NodeBox, ...]:
    """The boxes of a graph.

    Args:
        what: a `GraphModule`, a `Graph`, or boxes, which are not changed; or a module or
            function, which is traced, and restored afterwards.

    Returns:
        One box for each node, in graph order. If a node reads something outside of the graph
        (a node of another graph, an erased one, a name that does not exist), there is an extra
        box with the opcode ``foreign`` or ``missing`` before its first reader.

    Raises:
        TypeError: for anything else.
        CannotTrace: the module or function cannot be traced.
    """
    if isinstance(what, fx.GraphModule):
        return _boxes(what.graph, what)
    if isinstance(what, fx.Graph):
        return _boxes(what, what.owning_module)
    if isinstance(what, nn.Module):
        with _left_as_found(what):
            traced = _trace(what)
            return _boxes(traced.graph, traced)
    if isinstance(what, (list, tuple)) and all(isinstance(box, NodeBox) for box in what):
        return _with_missing(what)
    if isinstance(what, (types.FunctionType, types.MethodType)):
        traced = _trace(what)
        return _boxes(traced.graph, traced)
    raise TypeError(_refusal(what))


def _refusal(what: Any) -> str:
    can = "`draw` takes a GraphModule, a Graph, a module or a function"
    if isinstance(what, type):
        return (
            f"{can}, and `{what.__name__}` is a class. Draw one of its instances: "
            f"`draw({what.__name__}(...))`."
        )
    return f"{can}, not an object of type `{type(what).__name__}`."


def _trace(what: nn.Module | Callable[..., Any]) -> fx.GraphModule:
    try:
        return fx.symbolic_trace(what)
    except Exception as error:
        name = type(what).__name__ if isinstance(what, nn.Module) else what.__name__
        raise CannotTrace(
            f"`{name}` cannot be traced, so there is no graph to draw. "
            f"`fx.symbolic_trace` says: {type(error).__name__}: {str(error)[:300]}"
        ) from None


@contextmanager
def _left_as_found(root: nn.Module) -> Iterator[None]:
    """Remove what tracing registers on a module, such as ``_tensor_constant0``."""
    stores: tuple[dict[str, Any], ...] = (
        root.__dict__,
        own_buffers(root),
        own_modules(root),
    )
    before = [set(store) for store in stores]
    try:
        yield
    finally:
        for store, names in zip(stores, before, strict=True):
            for name in set(store) - names:
                del store[name]


def _boxes(graph: fx.Graph, root: nn.Module | None) -> tuple[NodeBox, ...]:
    nodes = _nodes(graph)
    names = _names(nodes)
    boxes: list[NodeBox] = []
    for node in nodes:
        args, kwargs = _with_refs(node.args, names), _with_refs(node.kwargs, names)
        read = tuple(dict.fromkeys((*_refs(args), *_refs(kwargs))))
        boxes += _ghosts(node, names, {box.name for box in boxes})
        text = label(str(node.op), node.target, args, kwargs, _owner(root, node))
        boxes.append(NodeBox(names[id(node)], str(node.op), text, tuple(map(str, read))))
    return tuple(boxes)


def _nodes(graph: fx.Graph) -> list[fx.Node]:
    """The graph's nodes, at most `MAX_NODES`: a corrupted list may be endless."""
    found: list[fx.Node] = []
    try:
        for node in graph.nodes:
            found.append(node)
            if len(found) >= MAX_NODES:
                break
    except Exception:  # of a broken list, draw the nodes before the break
        pass
    return found


def _names(nodes: list[fx.Node]) -> dict[int, str]:
    """Each node's name by its id; a repeated name gets a number."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for node in nodes:
        first, number = _printable(node.name), 1
        name = first
        while name in taken:
            number += 1
            name = f"{first} ({number})"
        taken.add(name)
        names.setdefault(id(node), name)
    return names


def _foreign_name(node: fx.Node) -> str:
    where = "erased" if getattr(node, "_erased", False) else "other graph"
    return f"{_printable(node.name)} ({where})"


def _printable(name: Any) -> str:
    return one_line(str(name)) or "(no name)"


def _with_refs(value: Any, names: dict[int, str], depth: int = 0) -> Any:
    """The arguments, with every node replaced by its name."""
    if isinstance(value, fx.Node):
        return Ref(names.get(id(value)) or _foreign_name(value))
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice(*(_with_refs(part, names, depth + 1) for part in parts))
    if isinstance(value, list):
        return [_with_refs(item, names, depth + 1) for item in value]
    if isinstance(value, tuple):
        return tuple(_with_refs(item, names, depth + 1) for item in value)
    if isinstance(value, dict):
        return {k: _with_refs(v, names, depth + 1) for k, v in value.items()}
    return value


def _refs(value: Any) -> Iterator[Ref]:
    """Every `Ref` in a result of `_with_refs`."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, slice):
        for part in (value.start, value.stop, value.step):
            yield from _refs(part)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _refs(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _refs(item)


def _ghosts(node: fx.Node, names: dict[int, str], drawn: set[str]) -> list[NodeBox]:
    """Boxes for the nodes of other graphs that a node reads."""
    found: dict[str, NodeBox] = {}
    for read in _node_leaves((node.args, node.kwargs)):
        name = _foreign_name(read)
        if id(read) not in names and name not in drawn:
            found[name] = NodeBox(name, FOREIGN, "not a node of this graph", ())
    return list(found.values())


def _node_leaves(value: Any, depth: int = 0) -> Iterator[fx.Node]:
    if isinstance(value, fx.Node):
        yield value
    elif depth > MAX_DEPTH:
        return
    elif isinstance(value, slice):
        yield from _node_leaves((value.start, value.stop, value.step), depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _node_leaves(item, depth + 1)
    elif isinstance(value, dict):
        yield from _node_leaves(list(value.values()), depth + 1)


def _owner(root: nn.Module | None, node: fx.Node) -> str:
    """The class of the module that a node calls."""
    if node.op != "call_module":
        return ""
    if root is None:
        return "module"
    found: Any = root
    for part in str(node.target).split("."):
        found = getattr(found, part, None)
    return "not found" if found is None else type(found).__name__


def _with_missing(boxes: Sequence[NodeBox]) -> tuple[NodeBox, ...]:
    """The boxes, with an extra one for each input that does not exist."""
    boxes = [
        replace(
            box,
            name=_printable(box.name),
            label=one_line(str(box.label)),
            inputs=tuple(map(_printable, box.inputs)),
        )
        for box in boxes
    ]
    there = {box.name for box in boxes}
    found: list[NodeBox] = []
    for box in boxes:
        for name in box.inputs:
            if name not in there:
                there.add(name)
                found.append(NodeBox(name, MISSING, "not a node of this graph", ()))
        found.append(box)
    return tuple(found)
