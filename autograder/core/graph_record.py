"""A `GraphModule` as plain data.

`describe` runs in the process that ran the learner's code. It must work for any graph, however
broken. It records each node with its links; each module's class, plain attributes and tensors; the
code; the signature. `core.graph_program` turns this description into a program that can be run.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NotRequired, TypedDict, cast

import torch
from torch import fx, nn

from autograder.core import allowlist
from autograder.core.codec import Encoded, Encoder, Tagged, leaves, unwrap
from autograder.core.torch_private import (
    codegen_of,
    inputs_recorded_by,
    own_buffers,
    own_modules,
    own_parameters,
)

MAX_NODES = 5_000
MAX_DESCRIBED = MAX_NODES + 1
"""One more than allowed, so that a reader of the description sees that the graph is too large."""


class CallRecord(TypedDict):
    """A node's operation and arguments, without its links."""

    op: str
    name: str
    target: str | Tagged
    args: Tagged
    kwargs: Tagged


class NodeRecord(CallRecord):
    """A node of a graph.

    Attributes:
        args_type: the class of its `args`.
        users: the nodes that read it, as ``{"node": index}``.
        inputs: the nodes that it has recorded as its inputs.
    """

    args_type: str
    users: list[Tagged]
    inputs: list[Tagged]


class TensorRecord(TypedDict):
    """A parameter, buffer or other tensor of a module.

    Attributes:
        tensor: its index in the table of tensors.
        origin: its name in the caller's model, if the model shares it.
    """

    tensor: int
    requires_grad: bool
    origin: str | None


_Tensors = dict[str, TensorRecord | None]
ModuleRecord = TypedDict(
    "ModuleRecord",
    {
        "path": str,
        "same_as": str,
        "class": str,
        "training": bool,
        "origin": str | None,
        "children": list[str],
        "attrs": dict[str, Encoded],
        "params": _Tensors,
        "buffers": _Tensors,
        "tensors": _Tensors,
    },
    total=False,
)
"""A module of a graph module: its path, and all keys or only `same_as`, a path described before."""


class GraphRecord(TypedDict):
    """A graph module, as `describe` returns it.

    Attributes:
        owner: whether its graph belongs to it.
        fresh_code: the code that its graph would generate now.
        lint: the error of `Graph.lint`.
        signature: parameters of its ``forward``; see `signature_of`.
        unresolved: names of the nodes whose target does not exist.
        meta: each node's metadata, if the case asks for it.
    """

    type: str
    owner: bool
    codegen: str
    code: str | None
    fresh_code: str | None
    lint: str | None
    signature: Signature | None
    training: bool
    nodes: list[NodeRecord]
    modules: list[ModuleRecord]
    unresolved: list[str]
    meta: NotRequired[list[dict[str, Encoded]]]


Signature = list[list[Any]]
"""Rows ``[name, kind, default]``: two texts, and a value that is left out if there is none."""


def reads(row: CallRecord) -> list[Tagged]:
    """The leaves of a node's arguments."""
    return [*leaves(row["args"]), *leaves(row["kwargs"])]


def call_of(row: NodeRecord) -> CallRecord:
    """A node without its links."""
    return {
        "op": row["op"], "name": row["name"], "target": row["target"],
        "args": row["args"], "kwargs": row["kwargs"],
    }  # fmt: skip


def target_path(row: CallRecord) -> str:
    """The target of a node that does not call a function: a path, a method, or an input's name.

    Raises:
        TypeError: the target is a function.
    """
    if isinstance(row["target"], dict):
        raise TypeError(f"the target of {row['name']} is a function")
    return row["target"]


def called_function(row: CallRecord) -> str:
    """The name of the function that a node calls. Raises `TypeError` if it does not call one."""
    if not isinstance(row["target"], dict):
        raise TypeError(f"the target of {row['name']} is not a function")
    name: str = unwrap(row["target"])[1]
    return name


def classes_of(data: GraphRecord) -> dict[str, str]:
    """The class of each module of a description, by path; aliases included."""
    found: dict[str, str] = {}
    for row in data["modules"]:
        found[row["path"]] = found[row["same_as"]] if "same_as" in row else row["class"]
    return found


_MODULE_INTERNALS = frozenset(nn.Module().__dict__)


def nodes_of(graph: fx.Graph) -> list[fx.Node]:
    """The graph's nodes, at most `MAX_DESCRIBED`, because a corrupted list may never end."""
    return list(itertools.islice(graph.nodes, MAX_DESCRIBED))


def describe(gm: fx.GraphModule, encoder: Encoder, caller: nn.Module | None = None) -> GraphRecord:
    """Describe a graph module as plain data.

    Args:
        gm: the graph module that the learner's code returned.
        encoder: takes the tensors; its `node` is set to encode this graph's nodes.
        caller: the model that it was made from; shared parts are marked with their origin.
    """
    nodes = describe_nodes(gm.graph, encoder)
    origins = _origins(caller)
    return {
        "type": allowlist.class_name(type(gm)),
        "owner": gm.graph.owning_module is gm,
        "codegen": type(codegen_of(gm.graph)).__name__,
        "code": _code(gm),
        "fresh_code": _fresh_code(gm),
        "lint": _lint(gm),
        "signature": signature_of(gm, encoder),
        "training": bool(gm.training),
        "nodes": nodes,
        "modules": list(_describe_modules(gm, encoder, origins)),
        "unresolved": [n.name for n in nodes_of(gm.graph) if not _resolves(gm, n)],
    }


def describe_nodes(graph: fx.Graph, encoder: Encoder) -> list[NodeRecord]:
    """Describe a graph's nodes; the encoder's `node` is set to encode this graph's nodes."""
    nodes = nodes_of(graph)
    index = {id(node): i for i, node in enumerate(nodes)}

    def link(node: fx.Node) -> Tagged:
        if id(node) in index:
            return {"node": index[id(node)]}
        erased = getattr(node, "_erased", False)
        return {"erased": str(node.name)} if erased else {"foreign": str(node.name)}

    encoder.node = link
    return [_describe_node(node, encoder) for node in nodes]


def _describe_node(node: fx.Node, encoder: Encoder) -> NodeRecord:
    target = node.target if isinstance(node.target, str) else encoder.function(node.target)
    return {
        "op": str(node.op),
        "name": str(node.name),
        "target": target,
        "args": cast(Tagged, encoder.encode(node.args)),
        "args_type": type(node.args).__name__,
        "kwargs": cast(Tagged, encoder.encode(node.kwargs)),
        "users": [encoder.node(user) for user in node.users],
        "inputs": [encoder.node(read) for read in inputs_recorded_by(node)],
    }


def _describe_modules(
    gm: nn.Module, encoder: Encoder, origins: dict[int, str]
) -> Iterator[ModuleRecord]:
    seen: dict[int, str] = {}
    tensors: dict[int, TensorRecord] = {}

    def entry(tensor: torch.Tensor | None) -> TensorRecord | None:
        if tensor is None:
            return None
        if id(tensor) not in tensors:
            tensors[id(tensor)] = {
                "tensor": encoder.tensor(tensor)["tensor"],
                "requires_grad": tensor.requires_grad,
                "origin": origins.get(id(tensor)),
            }
        return tensors[id(tensor)]

    for path, module in gm.named_modules(remove_duplicate=False):
        if id(module) in seen:
            yield {"path": path, "same_as": seen[id(module)]}
            continue
        seen[id(module)] = path
        root = module is gm
        yield {
            "path": path,
            "class": allowlist.class_name(type(module)),
            "training": bool(module.training),
            "origin": origins.get(id(module)),
            "children": list(own_modules(module)),
            "attrs": {} if root else _plain_attributes(module, encoder),
            "params": {k: entry(v) for k, v in own_parameters(module).items()},
            "buffers": {k: entry(v) for k, v in own_buffers(module).items()},
            "tensors": {
                k: entry(v) for k, v in module.__dict__.items() if isinstance(v, torch.Tensor)
            },
        }


def _plain_attributes(module: nn.Module, encoder: Encoder) -> dict[str, Encoded]:
    return {
        name: encoder.encode(value)
        for name, value in module.__dict__.items()
        if name not in _MODULE_INTERNALS and not isinstance(value, (torch.Tensor, fx.Graph))
    }


def _origins(caller: nn.Module | None) -> dict[int, str]:
    """The name of each part of the caller's model, by the identity of the part."""
    found: dict[int, str] = {}
    if caller is not None:
        for named in (caller.named_modules, caller.named_parameters, caller.named_buffers):
            for path, part in named(remove_duplicate=False):
                found.setdefault(id(part), path)
    return found


def _code(gm: fx.GraphModule) -> str | None:
    try:
        return str(gm.code)
    except Exception:
        return None


def _fresh_code(gm: fx.GraphModule) -> str | None:
    try:
        return gm.graph.python_code("self").src
    except Exception:
        return None


def _lint(gm: fx.GraphModule) -> str | None:
    try:
        gm.graph.lint()
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:500]
    return None


def signature_of(function: Callable[..., Any], encoder: Encoder) -> Signature | None:
    """Parameters as ``[name, kind, default]`` rows; ``None`` if there is no signature."""
    target = function.forward if isinstance(function, nn.Module) else function
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return None
    return [
        [p.name, p.kind.name, *([] if p.default is p.empty else [encoder.encode(p.default)])]
        for p in parameters
    ]


def _resolves(gm: nn.Module, node: fx.Node) -> bool:
    """Whether a ``call_module`` or ``get_attr`` target exists."""
    if node.op not in ("call_module", "get_attr"):
        return True
    value: Any = gm
    for part in str(node.target).split("."):
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return node.op == "get_attr" or isinstance(value, nn.Module)
