"""A `GraphModule` as plain data, and back.

`describe` runs where the learner's code ran. It must survive any graph, however broken,
and says what it sees: each node with its links, each module by class, plain attributes
and tensors, the code, the signature. `rebuild` runs in the judge and makes a new
`GraphModule` from that, using only functions and classes of `targets`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import fx, nn

from autograder import targets
from autograder.admission import admit
from autograder.plain import Decoder, Encoder, Plain

MAX_NODES = 5_000
_MODULE_INTERNALS = frozenset(nn.Module().__dict__)


def nodes_of(graph: fx.Graph) -> list[fx.Node]:
    """The graph's nodes, at most `MAX_NODES`: a corrupted list may never end."""
    found = []
    for node in graph.nodes:
        found.append(node)
        if len(found) > MAX_NODES:
            break
    return found


def describe(gm: fx.GraphModule, encoder: Encoder, caller: nn.Module | None = None) -> Plain:
    """The plain description of a graph module.

    Args:
        gm: what the learner's code returned.
        encoder: takes the tensors; its node hook is set to this graph's.
        caller: the model it was made from; shared parts are marked with their origin.
    """
    nodes = nodes_of(gm.graph)
    index = {id(node): i for i, node in enumerate(nodes)}

    def link(node: fx.Node) -> Plain:
        if id(node) in index:
            return {"node": index[id(node)]}
        return {"erased" if getattr(node, "_erased", False) else "foreign": str(node.name)}

    encoder.node = link
    origins = _origins(caller)
    return {
        "type": targets.class_name(type(gm)),
        "owner": gm.graph.owning_module is gm,
        "codegen": type(gm.graph._codegen).__name__,
        "code": _code(gm),
        "fresh_code": _fresh_code(gm),
        "lint": _lint(gm),
        "signature": signature_of(gm, encoder),
        "training": bool(gm.training),
        "nodes": [_describe_node(node, encoder) for node in nodes],
        "modules": list(_describe_modules(gm, encoder, origins)),
        "unresolved": [n.name for n in nodes if not _resolves(gm, n)],
    }


def _describe_node(node: fx.Node, encoder: Encoder) -> Plain:
    target = node.target if isinstance(node.target, str) else encoder.function(node.target)
    return {
        "op": str(node.op),
        "name": str(node.name),
        "target": target,
        "args": encoder.encode(node.args),
        "args_type": type(node.args).__name__,
        "kwargs": encoder.encode(node.kwargs),
        "users": [encoder.node(user) for user in node.users],
        "inputs": [encoder.node(read) for read in node._input_nodes],
    }


def _describe_modules(gm: nn.Module, encoder: Encoder, origins: dict[int, str]) -> Iterator[Plain]:
    seen: dict[int, str] = {}
    tensors: dict[int, Plain] = {}

    def entry(tensor: torch.Tensor | None) -> Plain:
        if tensor is None:
            return None
        if id(tensor) not in tensors:
            tensors[id(tensor)] = {
                **encoder.tensor(tensor),
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
            "class": targets.class_name(type(module)),
            "training": bool(module.training),
            "origin": origins.get(id(module)),
            "children": list(module._modules),
            "attrs": {} if root else _plain_attributes(module, encoder),
            "params": {k: entry(v) for k, v in module._parameters.items()},
            "buffers": {k: entry(v) for k, v in module._buffers.items()},
            "tensors": {
                k: entry(v) for k, v in module.__dict__.items() if isinstance(v, torch.Tensor)
            },
        }


def _plain_attributes(module: nn.Module, encoder: Encoder) -> dict[str, Plain]:
    return {
        name: encoder.encode(value)
        for name, value in module.__dict__.items()
        if name not in _MODULE_INTERNALS and not isinstance(value, (torch.Tensor, fx.Graph))
    }


def _origins(caller: nn.Module | None) -> dict[int, str]:
    """Identity of each part of the caller's model, to the name it has there."""
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


def signature_of(function: Callable[..., Any], encoder: Encoder) -> Plain:
    """Parameters as ``[name, kind, default]`` rows; ``None`` if there is no signature."""
    target = function.forward if isinstance(function, nn.Module) else function
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return None
    return [
        [p.name, p.kind.name]
        + ([] if p.default is inspect.Parameter.empty else [encoder.encode(p.default)])
        for p in parameters
    ]


def _resolves(gm: nn.Module, node: fx.Node) -> bool:
    """Whether a ``call_module`` or ``get_attr`` target leads somewhere."""
    if node.op not in ("call_module", "get_attr"):
        return True
    value: Any = gm
    for part in str(node.target).split("."):
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return node.op == "get_attr" or isinstance(value, nn.Module)


def rebuild(
    data: Plain, tensors: list[torch.Tensor], functions: dict[str, Callable[..., Any]]
) -> fx.GraphModule:
    """A new `GraphModule` from a description.

    Raises:
        ValueError: if the description names something that is not on the list of
            `targets`, or does not fit together.
    """
    made: list[fx.Node] = []
    decoder = Decoder(tensors, functions, node=lambda i: made[i])
    root = _rebuild_modules(data["modules"], tensors)
    declared = _declared(data["modules"])
    graph = fx.Graph()
    for row in data["nodes"]:
        _lead_to_what_is_declared(row, declared)
        made.append(_rebuild_node(row, graph, decoder))
    try:
        return fx.GraphModule(root, graph)
    except (AttributeError, RuntimeError) as error:
        # A node reads an attribute that has no plain form, such as a function kept on the module.
        raise ValueError(str(error)) from None


def _declared(rows: list[Plain]) -> dict[str, set[str]]:
    """The paths that each kind of node may lead to: parts that the description itself declares."""
    modules = {row["path"]: row for row in rows}
    tensors = set()
    for path, row in modules.items():
        own = modules[row["same_as"]] if "same_as" in row else row
        names = (name for kind in ("params", "buffers", "tensors") for name in own[kind])
        tensors |= {f"{path}.{name}" if path else name for name in names}
    return {"call_module": set(modules) - {""}, "get_attr": (set(modules) - {""}) | tensors}


def _lead_to_what_is_declared(row: Plain, declared: dict[str, set[str]]) -> None:
    """Refuse a path along attributes that Python objects happen to have.

    Such a path leads from a module to its dictionaries, from a generator to its frame, and from
    there to everything.
    """
    if row["op"] in declared and row["target"] not in declared[row["op"]]:
        raise ValueError(f"{row['target']!r} is no part of the module that was described")


def _rebuild_node(row: Plain, graph: fx.Graph, decoder: Decoder) -> fx.Node:
    target = row["target"]
    if not isinstance(target, str):
        target = decoder.decode(target)
    try:
        args, kwargs = tuple(decoder.decode(row["args"])), dict(decoder.decode(row["kwargs"]))
        admit(row["op"], target, args, kwargs)
        node = graph.create_node(row["op"], target, args, kwargs, name=str(row["name"]))
    except (IndexError, AssertionError, TypeError, RuntimeError) as error:
        raise ValueError(str(error)) from None
    return node


def _rebuild_modules(rows: list[Plain], tensors: list[torch.Tensor]) -> nn.Module:
    made: dict[str, nn.Module] = {}
    shared: dict[int, torch.Tensor] = {}
    for row in rows:
        path = row["path"]
        module = made[row["same_as"]] if "same_as" in row else _rebuild_module(row, tensors, shared)
        made[path] = module
        if path:
            parent, _, name = path.rpartition(".")
            _shadows_nothing(type(made[parent]), name)
            made[parent]._modules[name] = module
    return made[""]


def _rebuild_module(
    row: Plain, tensors: list[torch.Tensor], shared: dict[int, torch.Tensor]
) -> nn.Module:
    try:
        cls = targets.module_class_of(row["class"]) if row["path"] else nn.Module
    except LookupError:
        cls = nn.Module  # a container, or a class that only fails if it is called
    module = cls.__new__(cls)
    nn.Module.__init__(module)
    decoder = Decoder(tensors)
    for name, value in row["attrs"].items():
        if name in _MODULE_INTERNALS or name.startswith("__"):
            continue
        if hasattr(nn.Module, name) or callable(getattr(cls, name, None)):
            continue  # it would take the place of a method
        try:
            module.__dict__[name] = decoder.decode(value)
        except ValueError:
            continue  # an attribute without a plain form; what needs it will say so
    for kind in ("params", "buffers", "tensors"):
        for name, entry in row[kind].items():
            _shadows_nothing(cls, name)
            tensor = None if entry is None else _rebuild_tensor(entry, kind, tensors, shared)
            store = {"params": module._parameters, "buffers": module._buffers}
            store.get(kind, module.__dict__)[name] = tensor
    module.training = row["training"]
    return module


def _shadows_nothing(cls: type, name: str) -> None:
    """Refuse a declared name that would be read in place of an attribute of its class."""
    if not name or name in _MODULE_INTERNALS or hasattr(cls, name):
        raise ValueError(f"{name!r} is no name for a part of a module")


def _rebuild_tensor(
    entry: Plain, kind: str, tensors: list[torch.Tensor], shared: dict[int, torch.Tensor]
) -> torch.Tensor:
    index = entry["tensor"]
    if index not in shared:
        value = tensors[index].clone()
        if kind == "params":
            value = nn.Parameter(value, requires_grad=bool(entry["requires_grad"]))
        shared[index] = value
    return shared[index]
