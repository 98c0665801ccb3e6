"""What a call is given, by the names of its parameters: the judge's own answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn

from autograder.core.torch_private import OpOverload, builtin_name, schema_of


class NotKnown(ValueError):
    """There is nothing to say about a call; its text says why."""


@dataclass(frozen=True)
class Given:
    """The arguments of a call.

    Attributes:
        values: by the name of the parameter.
        single: the parameter for which a single size was given, so that it is in a list of one.
    """

    values: dict[str, Any]
    single: str = ""


def given(node: fx.Node, root: nn.Module) -> Given:
    """What a call is given.

    Args:
        node: a call.
        root: the module in which the path of a `call_module` node leads somewhere.

    Raises:
        NotKnown: there is nothing to say.
    """
    args, kwargs = tuple(node.args), dict(node.kwargs)
    if node.op == "call_module":
        return _of_signature(root.get_submodule(str(node.target)).forward, args, kwargs)
    if node.op == "call_method":
        schemas = list(_schemas(str(node.target)))
        return _of_schemas(schemas, args, kwargs, "self", may_gather=True)
    if isinstance(node.target, OpOverload):
        return _of_schemas([schema_of(node.target)], args, kwargs, "self", may_gather=False)
    assert callable(node.target)
    try:
        return _of_signature(node.target, args, kwargs)
    except LookupError:
        name = builtin_name(node.target)
        schemas = list(_schemas(name)) if name else []
        return _of_schemas(schemas, args, kwargs, "input", may_gather=False)


def _of_signature(function: Callable[..., Any], args: Any, kwargs: Any) -> Given:
    """By the signature of a function of Python.

    Raises:
        LookupError: it has none.
        NotKnown: the arguments do not fit.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise LookupError(str(error)) from None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise NotKnown(f"the arguments do not fit: {error}") from None
    bound.apply_defaults()
    return Given(dict(bound.arguments))


def _schemas(name: str) -> Iterator[Any]:
    packet = getattr(torch.ops.aten, name, None)
    for overload in packet.overloads() if packet is not None else ():
        yield schema_of(getattr(packet, overload))


def _of_schemas(
    schemas: list[Any], args: Any, kwargs: Any, first: str, *, may_gather: bool
) -> Given:
    if not schemas:
        raise NotKnown("nothing is known of it")
    found: list[Given] = []
    for schema in schemas:
        one = _bound(schema, args, kwargs, first, typed=len(schemas) > 1, may_gather=may_gather)
        if one is not None and not any(_same(one.values, each.values) for each in found):
            found.append(one)
    if not found:
        raise NotKnown("its arguments do not fit")
    if len(found) > 1:
        raise NotKnown("several schemas accept it, and they disagree")
    return found[0]


def _bound(
    schema: Any, args: Any, kwargs: Any, first: str, *, typed: bool, may_gather: bool
) -> Given | None:
    """What a schema makes of arguments, if it accepts them."""
    names = {a.name: first if a.name == "self" else a.name for a in schema.arguments}
    places = [a for a in schema.arguments if not a.kwarg_only]
    single = ""
    if may_gather and len(places) > 1 and _is_sizes(places[-1]) and len(args) >= len(places):
        more = args[len(places) - 1 :]
        if all(type(size) is int or isinstance(size, fx.Node) for size in more):
            args = (*args[: len(places) - 1], list(more))
            single = names[places[-1].name] if len(more) == 1 else ""
    if len(args) > len(places):
        return None
    values = {names[a.name]: value for a, value in zip(places, args, strict=False)}
    if any(key in values or key not in names.values() for key in kwargs):
        return None
    values |= kwargs
    for argument in schema.arguments:
        name = names[argument.name]
        if name in values:
            if typed and not accepts(str(argument.real_type), argument.N, values[name]):
                return None
        elif argument.has_default_value():
            values[name] = argument.default_value
        else:
            return None
    return Given(values, single)


def _is_sizes(argument: Any) -> bool:
    """Whether a parameter is a list of whole numbers, of any length."""
    return argument.N is None and str(argument.real_type) in ("List[int]", "List[SymInt]")


def accepts(kind: str, length: int | None, value: Any) -> bool:
    """Whether a parameter takes a value: a node is a tensor, or a size in a list of sizes.

    Args:
        kind: the type, as PyTorch writes it.
        length: of a list that one number may stand for.
        value: an argument of a node.
    """
    if kind.startswith("Optional["):
        inner = kind.removeprefix("Optional[").removesuffix("]")
        return value is None or accepts(inner, length, value)
    if kind.startswith("List["):
        inner = kind.removeprefix("List[").removesuffix("]")
        if isinstance(value, list | tuple):
            return all(
                accepts(inner, None, item) or (isinstance(item, fx.Node) and inner in _WHOLE)
                for item in value
            )
        return length is not None and inner in _WHOLE and type(value) is int
    if kind == "Tensor":
        return isinstance(value, fx.Node)
    return type(value) in _KINDS.get(kind, ())


_WHOLE = ("int", "SymInt")
_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "SymInt": (int,),
    "float": (float, int),
    "bool": (bool,),
    "str": (str,),
    "number": (int, float, bool),
    "Scalar": (int, float, bool),
    "ScalarType": (torch.dtype,),
    "Layout": (torch.layout,),
    "MemoryFormat": (torch.memory_format,),
    "Device": (torch.device,),
}
"""The types of Python for those of schemas."""


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same, also in their types."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)
