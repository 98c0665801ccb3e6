"""Values as plain data, and back: JSON, and a table of tensors.

`Encoder` turns what a learner's code returned into dictionaries, lists, numbers and strings. A
tensor goes to the table, and the data contains ``{"tensor": index}``. Nothing is pickled: a value
without a plain form becomes ``{"opaque": type name}``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias, TypedDict, TypeVar, cast

import torch
from torch import fx

from autograder.core import allowlist

JsonValue: TypeAlias = "None | bool | int | float | str | list[JsonValue] | dict[str, JsonValue]"
"""Any JSON value. Read data of an unknown form as this, and narrow it."""

Tagged = TypedDict(  # noqa: UP013  (in a class, its key `list` would hide the type)
    "Tagged",
    {
        "tensor": int, "node": int, "foreign": str, "erased": str, "function": str,
        "unlisted": str, "case": str, "opaque": str, "float": str, "complex": list[str],
        "list": "list[Encoded]", "tuple": "list[Encoded]", "set": "list[Encoded]",
        "slice": "list[Encoded]", "dict": "list[list[Encoded]]", "range": list[int],
        "ellipsis": int, "torch": str, "device": str,
    },
    total=False,
)  # fmt: skip
"""An encoded value that JSON has no form for: a dictionary of one key, its kind, and its content.

`foreign` and `erased` are names of nodes that are not in the graph.
"""

Encoded: TypeAlias = Tagged | Any
"""A value as `Encoder.encode` returns it: a scalar, or tagged.

`Any` stands for the scalars, so a type checker checks the keys, and readers need no `isinstance`.
"""

T = TypeVar("T")
MAX_DEPTH = 40
MAX_ITEMS = 200_000
MAX_TEXT = 20_000
CHARACTERS = 32
"""Number of characters of a text that count as one item more."""


class Encoder:
    """Encodes values as plain data, and copies their tensors to a table.

    Args:
        functions: functions of the case, by the name used for them in the data.
        node: encodes a `fx.Node`; by its name, by default.
    """

    def __init__(
        self,
        functions: dict[str, Callable[..., Any]] | None = None,
        node: Callable[[fx.Node], Tagged] | None = None,
    ) -> None:
        self.tensors: list[torch.Tensor] = []
        self.node = node or (lambda n: named_node(n.name))
        self._case_functions = {id(f): name for name, f in (functions or {}).items()}
        self._items = 0

    def tensor(self, value: torch.Tensor) -> Tagged:
        """Add a copy of a tensor to the table."""
        self.tensors.append(value.detach().clone())
        return {"tensor": len(self.tensors) - 1}

    def encode(self, value: Any, depth: int = 0) -> Encoded:
        """Encode a value as plain data."""
        self._items += 1
        if depth > MAX_DEPTH or self._items > MAX_ITEMS:
            return {"opaque": "data that is too large"}
        if value is None or value is True or value is False:
            return value
        if isinstance(value, fx.Node):
            return self.node(value)
        if isinstance(value, fx.Proxy):
            return {"opaque": "Proxy"}  # first, because reading an attribute adds nodes
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, str):
            text = str.__str__(value)[:MAX_TEXT]
            self._items += len(text) // CHARACTERS
            return text
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": repr(float(value))}
        return self._encode_structure(value, depth + 1)

    def _encode_structure(self, value: Any, depth: int) -> Tagged:
        if isinstance(value, complex):
            return {"complex": [repr(value.real), repr(value.imag)]}
        if isinstance(value, (list, tuple)):
            items = [self.encode(item, depth) for item in self._some(value)]
            return {"list": items} if isinstance(value, list) else {"tuple": items}
        if isinstance(value, dict):
            pairs = self._some(value.items())
            return {"dict": [[self.encode(k, depth), self.encode(v, depth)] for k, v in pairs]}
        if isinstance(value, (set, frozenset)):
            return {"set": [self.encode(item, depth) for item in self._some(value)]}
        if isinstance(value, slice):
            return {"slice": [self.encode(v, depth) for v in (value.start, value.stop, value.step)]}
        if isinstance(value, range):
            return {"range": [value.start, value.stop, value.step]}
        if value is Ellipsis:
            return {"ellipsis": 0}
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return {"torch": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if callable(value) and not isinstance(value, torch.nn.Module):
            return self.function(value)
        return {"opaque": type(value).__name__}

    def _some(self, values: Iterable[T]) -> Iterator[T]:
        """The values up to the first after `MAX_ITEMS`, which shows that there are more."""
        for value in values:
            yield value
            if self._items > MAX_ITEMS:
                return

    def function(self, value: Callable[..., Any]) -> Tagged:
        """Encode a function by the case's name for it, by its importable name, or as opaque.

        A function of PyTorch or Python that is not on the list is tagged ``unlisted``: its result
        cannot be checked, but it is not the learner's own code.
        """
        if id(value) in self._case_functions:
            return {"case": self._case_functions[id(value)]}
        name = allowlist.function_name(value)
        if name is not None:
            return {"function": name}
        name = allowlist.importable_name(value)
        if name is not None:
            return {"unlisted": name}
        return {"opaque": str(getattr(value, "__name__", type(value).__name__))[:200]}


def named_node(name: str) -> Tagged:
    """A node outside of a described graph, by its name."""
    return cast(Tagged, {"node": name})


class TensorTable(Protocol):
    """The tensors that plain data refers to, by index."""

    def __getitem__(self, index: int, /) -> torch.Tensor: ...


class Decoder:
    """Decodes plain data into values.

    Args:
        tensors: the table that belongs to the data.
        functions: functions of the case by name.
        node: decodes the key of ``{"node": key}``.

    Raises (from `decode`):
        ValueError: for data of an unknown form, or an opaque value.
    """

    def __init__(
        self,
        tensors: TensorTable,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        node: Callable[[Any], Any] | None = None,
    ) -> None:
        self.tensors = tensors
        self.functions = functions or {}
        self.node = node

    def decode(self, data: Encoded) -> Any:
        """The value that the data describes."""
        if data is None or isinstance(data, (bool, int, float, str)):
            return data
        if not isinstance(data, dict) or len(data) != 1:
            raise ValueError(f"not plain data: {str(data)[:80]}")
        kind, body = unwrap(data)
        decode = getattr(self, f"_decode_{kind}", None)
        if decode is None:
            raise ValueError(f"no value for {str(data)[:80]}")
        return decode(body)

    def _decode_tensor(self, index: int) -> torch.Tensor:
        return self.tensors[index]

    def _decode_float(self, text: str) -> float:
        return float(text)

    def _decode_complex(self, parts: list[str]) -> complex:
        return complex(float(parts[0]), float(parts[1]))

    def _decode_list(self, items: list[Encoded]) -> list[Any]:
        return [self.decode(item) for item in items]

    def _decode_tuple(self, items: list[Encoded]) -> tuple[Any, ...]:
        return tuple(self.decode(item) for item in items)

    def _decode_dict(self, items: list[list[Encoded]]) -> dict[Any, Any]:
        return {self.decode(key): self.decode(value) for key, value in items}

    def _decode_set(self, items: list[Encoded]) -> set[Any]:
        return {self.decode(item) for item in items}

    def _decode_slice(self, parts: list[Encoded]) -> slice:
        return slice(*(self.decode(part) for part in parts))

    def _decode_range(self, parts: list[int]) -> range:
        return range(*parts)

    def _decode_ellipsis(self, _: int) -> Any:
        return Ellipsis

    def _decode_torch(self, name: str) -> Any:
        value = getattr(torch, name, None)
        if not isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            raise ValueError(f"no dtype, layout or memory format called {name!r}")
        return value

    def _decode_device(self, name: str) -> torch.device:
        return torch.device(name)

    def _decode_function(self, name: str) -> Callable[..., Any]:
        try:
            return allowlist.function_of(name)
        except LookupError:
            raise ValueError(f"{name} is not a function that a graph may call here") from None

    def _decode_case(self, name: str) -> Callable[..., Any]:
        return self.functions[name]

    def _decode_node(self, key: Any) -> Any:
        if self.node is None:
            raise ValueError("a node where none can be")
        return self.node(key)


def unwrap(data: Mapping[str, Any]) -> tuple[str, Any]:
    """The kind of an encoded value, and its content."""
    ((kind, body),) = data.items()
    return kind, body


def kind_of(data: Encoded) -> str:
    """The kind of value that plain data describes, in words: ``a list``, ``None`` …"""
    if data is None:
        return "`None`"
    if isinstance(data, (bool, int, float, str)):
        name = type(data).__name__
        return f"an `{name}`" if name == "int" else f"a `{name}`"
    kind, body = unwrap(data)
    words = {
        "tensor": "a `Tensor`",
        "node": "a `Node`",
        "function": "a function",
        "unlisted": "a function",
        "case": "a function",
        "complex": "a `complex`",
        "float": "a `float`",
    }
    if kind in words:
        return words[kind]
    name = body if kind == "opaque" else kind
    return f"{'an' if name[:1] in 'aeiou' else 'a'} `{name}`"


# ------------------------------------------------------------------ read


def show(value: Encoded, limit: int = 160) -> str:
    """A plain value as Python would write it, cut to size."""
    text = _show(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


SHOWN = 12
"""Number of entries up to which a tensor is written in full."""


def show_values(value: Encoded, tensors: TensorTable) -> str:
    """A plain value with the entries of its tensors; ``""`` if there are too many of them."""
    used = [leaf["tensor"] for leaf in leaves(value) if "tensor" in leaf]
    if any(tensors[i].numel() > SHOWN for i in used):
        return ""
    text = _show(value)
    for i in used:
        text = text.replace("<a tensor>", _entries(tensors[i]), 1)
    return text if len(text) <= 400 else ""


def _entries(tensor: torch.Tensor) -> str:
    def rounded(item: Any) -> str:
        if isinstance(item, list):
            return f"[{', '.join(map(rounded, item))}]"
        return f"{item:.4g}" if isinstance(item, float) else repr(item)

    return rounded(tensor.tolist())


def _show(value: Encoded) -> str:
    if not isinstance(value, dict) or len(value) != 1:
        return repr(value)  # not plain data: the text comes from an untrusted process
    kind, body = unwrap(value)
    if kind == "list":
        return "[" + ", ".join(map(_show, body)) + "]"
    if kind == "tuple":
        return "(" + ", ".join(map(_show, body)) + (",)" if len(body) == 1 else ")")
    if kind == "dict":
        return "{" + ", ".join(f"{_show(k)}: {_show(v)}" for k, v in body) + "}"
    if kind == "set":
        return "{" + ", ".join(map(_show, body)) + "}" if body else "set()"
    if kind == "slice":
        return f"slice({', '.join(map(_show, body))})"
    if kind == "ellipsis":
        return "Ellipsis"
    return "<a tensor>" if kind == "tensor" else str(body)


def leaves(data: Encoded) -> Iterator[Tagged]:
    """Every leaf of plain arguments that is not a container, however deeply nested."""
    if not isinstance(data, dict) or len(data) != 1:
        return
    kind, body = unwrap(data)
    if kind in ("list", "tuple", "slice", "set"):
        for item in body:
            yield from leaves(item)
    elif kind == "dict":
        for key, value in body:
            yield from leaves(key)
            yield from leaves(value)
    else:
        yield cast(Tagged, data)
