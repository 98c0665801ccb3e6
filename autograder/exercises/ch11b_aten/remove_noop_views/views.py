"""The values of views, however they are written: the judge's own analysis of a graph's rows.

Each node of the four kinds is identified by its value: a shape of some value, a slice, or an
expansion. Views of views are one shape of the first value; a view that does nothing is the value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import statically_known_true

from autograder.authoring.key import Encoded, Encoder

aten = torch.ops.aten
_FUNCTION = Encoder().function
VIEW, RESHAPE = _FUNCTION(aten.view.default), _FUNCTION(aten.reshape.default)
SLICE, EXPAND = _FUNCTION(aten.slice.Tensor), _FUNCTION(aten.expand.default)
SHAPES = (VIEW, RESHAPE)
KINDS = (*SHAPES, SLICE, EXPAND)

Value = tuple[Any, ...]
"""The value of a node; two nodes give the same if their values are equal."""


class Strange(Exception):
    """A row that cannot result from the given graph; the message says why."""


@dataclass(frozen=True)
class Row:
    """A described node."""

    op: str
    name: str
    target: Encoded
    args: Encoded
    kwargs: Encoded
    val: str

    @property
    def is_kind(self) -> bool:
        """Whether it is of one of the four kinds."""
        return self.op == "call_function" and self.target in KINDS

    @property
    def is_shape(self) -> bool:
        """Whether it is a view or a reshape."""
        return self.op == "call_function" and self.target in SHAPES

    @property
    def given(self) -> list[Encoded]:
        """The arguments of one of the four kinds, in the operator's order, padded with `None`."""
        names = {"slice": ("self", "dim", "start", "end", "step"), "expand": ("self", "size")}
        key = "slice" if self.target == SLICE else "expand"
        found = list(self.args["tuple"])
        more = {str(key): value for key, value in self.kwargs["dict"]}
        return [*found, *(more.get(name) for name in names[key][len(found) :])]

    @property
    def source(self) -> str:
        """The name of the input of one of the four kinds."""
        first = (self.given or [None])[0]
        if not isinstance(first, dict) or "node" not in first:
            raise Strange(f"`{self.name}` does not read a node")
        return str(first["node"])


def rows_of(data: Encoded) -> list[Row]:
    """Make rows from a description."""
    return [Row(*row["tuple"]) for row in data["list"]]


def readers(rows: list[Row]) -> dict[str, list[str]]:
    """The readers of each node, by name."""
    found: dict[str, list[str]] = {row.name: [] for row in rows}
    for row in rows:
        for name in dict.fromkeys(_names([row.args, row.kwargs])):
            found.setdefault(name, []).append(row.name)
    return found


def _names(data: Encoded) -> Iterator[str]:
    if isinstance(data, dict):
        if len(data) == 1 and "node" in data:
            yield str(data["node"])
        for value in data.values():
            yield from _names(value)
    elif isinstance(data, list):
        for value in data:
            yield from _names(value)


@dataclass
class Views:
    """The values of a given graph, computed by the judge.

    Attributes:
        gm: a fresh copy of the given graph module.
        values: the value of each node of the given graph.
        plain: values that a chain of views without a reshape can give.
        vals: the `meta` texts of the given graph's nodes with a value.
    """

    gm: fx.GraphModule
    rows: list[Row]
    values: dict[str, Value] = field(default_factory=dict)
    plain: set[Value] = field(default_factory=set)
    vals: dict[Value, set[str]] = field(default_factory=dict)
    _shapes: list[tuple[Any, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._val = {node.name: node.meta.get("val") for node in self.gm.graph.nodes}
        by_views: dict[str, bool] = {}
        for row in self.rows:
            own = self._val[row.name]
            value = self.values[row.name] = self._value(row, self.values, own)
            self.vals.setdefault(value, set()).add(row.val)
            if row.is_kind:
                nothing = value == self.values[row.source]
                chain = by_views.get(row.source, True)
                by_views[row.name] = chain if nothing else row.target != RESHAPE and chain
                if value[0] != "shape":
                    by_views[row.name] = True  # a slice or an expand begins a new chain
                elif row.is_shape and by_views[row.name]:
                    self.plain.add(value)

    def after(self, rows: list[Row]) -> dict[str, Value]:
        """The value of each node in the changed graph.

        Raises:
            Strange: the value of a view is not in the given graph.
        """
        found: dict[str, Value] = {}
        known = set(self.values.values())
        for row in rows:
            found[row.name] = self._value(row, found, None)
            if row.is_kind and found[row.name] not in known:
                raise Strange(f"`{row.name}` gives what no node of the given graph gives")
        return found

    def _value(self, row: Row, values: dict[str, Value], own: Any) -> Value:
        if not row.is_kind:
            return ("node", row.name)
        source = values.get(row.source)
        if source is None:
            raise Strange(f"`{row.name}` reads `{row.source}`, which does not come before it")
        shape = self._shape(row, source) if own is None else tuple(own.shape)
        if self._is_same(shape, self.shape_of(source)):
            return source
        if row.is_shape:
            base = source[1] if source[0] == "shape" else source
            if self._is_same(shape, self.shape_of(base)):
                return base
            return ("shape", base, self._number(shape))
        word = "slice" if row.target == SLICE else "expand"
        return (word, source, str(self._plain_args(row)), self._number(shape))

    def _plain_args(self, row: Row) -> list[Encoded]:
        """The arguments of a slice or an expansion, with defaults filled in."""
        args = row.given[1:]
        if row.target == SLICE:
            dim, start, end, step = args
            return [dim or 0, start or 0, end, 1 if step is None else step]
        return args

    def shape_of(self, value: Value) -> tuple[Any, ...]:
        """The shape of a value."""
        if value[0] == "node":
            return tuple(getattr(self._val.get(value[1]), "shape", ("no tensor",)))
        return self._shapes[value[-1]]

    def _shape(self, row: Row, source: Value) -> tuple[Any, ...]:
        """The shape given by a node's arguments, which the answer may have changed."""
        if row.target == SLICE:
            return self._of_a_slice(row, source)
        sizes = self._sizes(row)
        before = self.shape_of(source)
        if row.target == EXPAND:
            lead = len(sizes) - len(before)
            return tuple(before[i - lead] if size == -1 and type(size) is int else size
                         for i, size in enumerate(sizes))  # fmt: skip
        unknown = [i for i, size in enumerate(sizes) if type(size) is int and size == -1]
        if len(unknown) > 1:
            raise Strange(f"`{row.name}` leaves more than one size open")
        known = [size for i, size in enumerate(sizes) if i not in unknown]
        if unknown:
            sizes[unknown[0]] = _product(before) // _product(known) if _product(known) else 0
        if not statically_known_true(_product(sizes) == _product(before)):
            raise Strange(f"`{row.name}` asks for sizes that do not fit what it reads")
        return tuple(sizes)

    def _of_a_slice(self, row: Row, source: Value) -> tuple[Any, ...]:
        """The shape of a slice, taken from an equal one in the given graph."""
        wanted = str(self._plain_args(row))
        for known in self.values.values():
            if known[0] == "slice" and known[1] == source and known[2] == wanted:
                return self._shapes[known[-1]]
        for mine in self.rows:
            if mine.target == SLICE and str(self._plain_args(mine)) == wanted:
                if self.values[mine.source] == source:
                    return self.shape_of(self.values[mine.name])
        raise Strange(f"`{row.name}` is a slice that the given graph does not have")

    def _sizes(self, row: Row) -> list[Any]:
        given = row.given[1]
        items = given.get("list", given.get("tuple")) if isinstance(given, dict) else None
        if not isinstance(items, list):
            raise Strange(f"`{row.name}` has no list of sizes")
        return [self._size(item, row) for item in items]

    def _size(self, item: Encoded, row: Row) -> Any:
        if type(item) is int:
            return item
        found = self._val.get(item.get("node", "")) if isinstance(item, dict) else None
        if not isinstance(found, (int, torch.SymInt)):
            raise Strange(f"`{row.name}` has a size that is neither a number nor a size")
        return found

    def _number(self, shape: tuple[Any, ...]) -> int:
        """The index of a shape among those that are not known to be equal."""
        for i, known in enumerate(self._shapes):
            if self._is_same(shape, known):
                return i
        self._shapes.append(shape)
        return len(self._shapes) - 1

    def does_nothing(self, row: Row, after: dict[str, Value]) -> bool:
        """Whether a node gives the shape of its input."""
        return self._is_same(self.shape_of(after[row.name]), self.shape_of(after[row.source]))

    @staticmethod
    def _is_same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        return len(one) == len(other) and all(
            type(a) is type(b) is str or statically_known_true(a == b)
            for a, b in zip(one, other, strict=True)
        )


def _product(sizes: Any) -> Any:
    total: Any = 1
    for size in sizes:
        total = total * size
    return total
