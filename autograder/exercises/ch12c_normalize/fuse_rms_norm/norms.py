"""The judge's own search for RMS norms in a graph's rows, and the allowed fused graphs.

Nodes are compared by their computation: equal calls of equal values have the same number. So a
graph is right if it computes the same values, whatever the names of its nodes.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import fx

from autograder.authoring.key import Encoded, Encoder, NodeRecord, reads, target_path

aten = torch.ops.aten
_NAME = Encoder().function
POW, MUL = _NAME(aten.pow.Tensor_Scalar), _NAME(aten.mul.Tensor)
MEAN, ADD = _NAME(aten.mean.dim), _NAME(aten.add.Tensor)
RSQRT = _NAME(aten.rsqrt.default)
CAST: Encoded = {"function": "torch.ops.aten._to_copy.default"}
NORM: Encoded = {"function": "torch.ops.fxcourse.rms_norm.default"}
LOW = (torch.float16, torch.bfloat16)

Term = int
Call = tuple[Term, Term | None, float]
"""The arguments of a call of the operator: `x`, the weight if there is one, and `eps`."""


@dataclass(frozen=True)
class Site:
    """A norm in the graph, and its fused form.

    Attributes:
        at: the row that the new call replaces.
        product: the row of ``x * rsqrt(...)``.
        x: the row that is normalized.
        weight: the row of the weight, if the call includes one.
        eps: the number in the call.
        square: the row of the square.
        wide: the row that is multiplied: `x`, or a cast of it.
        low: the row before the cast, if the product is not cast back; else the row of `x`.
    """

    at: int
    product: int
    x: int
    weight: int | None
    eps: float
    square: int
    wide: int
    low: int


@dataclass
class Table:
    """Numbers for computed values, shared by all compared graphs.

    Attributes:
        attributes: the distinct tensors that `get_attr` nodes read.
    """

    numbers: dict[str, Term] = field(default_factory=dict)
    attributes: list[torch.Tensor] = field(default_factory=list)

    def number(self, what: Any) -> Term:
        """The number of a computation."""
        return self.numbers.setdefault(json.dumps(what, sort_keys=True), len(self.numbers))

    def attribute(self, tensor: torch.Tensor) -> int:
        """The index of a tensor among the known ones, compared by value."""
        for i, known in enumerate(self.attributes):
            if known.dtype == tensor.dtype and torch.equal(known, tensor):
                return i
        self.attributes.append(tensor)
        return len(self.attributes) - 1


@dataclass
class Computed:
    """The computation of a graph.

    Attributes:
        terms: the number of each row's value.
        live: the rows that the result depends on.
        norms: the arguments of each call of the operator, by row.
    """

    terms: list[Term]
    live: set[int]
    norms: dict[int, Call]
    rows: list[NodeRecord]

    @property
    def calls(self) -> Counter[Term]:
        """The number of computations of each value that the result depends on."""
        return Counter(
            term
            for i, term in enumerate(self.terms)
            if i in self.live and self.rows[i]["op"] not in ("placeholder", "get_attr", "output")
        )

    @property
    def result(self) -> Term:
        """The number of the result."""
        return self.terms[-1]

    @property
    def norm_calls(self) -> Counter[Call]:
        """The number of calls of the operator with each set of arguments."""
        return Counter(call for i, call in self.norms.items() if i in self.live)


class Strange(ValueError):
    """A call of the operator does not fit its schema."""


def arguments(row: NodeRecord) -> list[Encoded]:
    """The arguments of a call of the operator, in the order of its schema.

    Raises:
        Strange: the arguments do not fit the schema.
    """
    given = list(row["args"].get("tuple", ()))
    named = {str(key): value for key, value in row["kwargs"]["dict"]}
    names = ("x", "weight", "eps")
    for name in names[len(given) :]:
        if name not in named:
            raise Strange(f"has no `{name}`")
        given.append(named.pop(name))
    if named or len(given) != len(names):
        raise Strange("has arguments that the operator does not take")
    x, weight, eps = given
    if not _is_node(x) or not (weight is None or _is_node(weight)):
        raise Strange("reads something other than a node, as `x` or as the weight")
    if type(eps) is not float:
        raise Strange("has an `eps` that is no Python float")
    return given


def computed(
    rows: list[NodeRecord],
    table: Table,
    attributes: dict[str, torch.Tensor],
    fused: Iterable[Site] = (),
) -> Computed:
    """Compute the values of a graph's rows, with some norms fused.

    Args:
        rows: the nodes, as `describe` writes them.
        table: the numbers.
        attributes: the tensors of the module, by name.
        fused: the norms to treat as calls of the operator.

    Raises:
        Strange: a call of the operator does not fit its schema.
    """
    sites = {site.at: site for site in fused}
    terms: list[Term] = []
    norms: dict[int, Call] = {}
    read: list[list[int]] = []
    for i, row in enumerate(rows):
        if i in sites:
            site = sites[i]
            weight = None if site.weight is None else terms[site.weight]
            norms[i] = terms[site.x], weight, site.eps
            read.append([site.x] + ([] if site.weight is None else [site.weight]))
        elif row["target"] == NORM:
            arguments_: list[Any] = arguments(row)
            x, given, eps = arguments_
            norms[i] = terms[x["node"]], None if given is None else terms[given["node"]], eps
            read.append([leaf["node"] for leaf in reads(row)])
        else:
            read.append([leaf["node"] for leaf in reads(row) if "node" in leaf])
        terms.append(table.number(["norm", *norms[i]] if i in norms else
                                  _what(row, terms, table, attributes)))  # fmt: skip
    return Computed(terms, _reached(len(rows) - 1, read), norms, rows)


def _what(
    row: NodeRecord, terms: list[Term], table: Table, attributes: dict[str, torch.Tensor]
) -> list[Any]:
    if row["op"] == "get_attr":
        path = target_path(row)
        found = attributes.get(path)
        return ["get_attr", path if found is None else table.attribute(found)]
    target = "output" if row["op"] == "output" else row["target"]
    return [row["op"], target, _told(row["args"], terms), _told(row["kwargs"], terms)]


def _told(data: Encoded, terms: list[Term]) -> Encoded:
    """Arguments, with each node replaced by the number of its value."""
    if isinstance(data, list):
        return [_told(item, terms) for item in data]
    if not isinstance(data, dict):
        return data
    if type(data.get("node")) is int:
        return {"value": terms[data["node"]]}
    return {key: _told(value, terms) for key, value in data.items()}


def _reached(start: int, read: list[list[int]]) -> set[int]:
    found, todo = set[int](), [start]
    while todo:
        if (i := todo.pop()) not in found:
            found.add(i)
            todo += read[i]
    return found


def _is_node(data: Encoded) -> bool:
    return isinstance(data, dict) and type(data.get("node")) is int


# ------------------------------------------------------------------ finding norms


class Norms:
    """The norms of a given graph.

    Attributes:
        choices: for each norm, in graph order, the ways to fuse it; ``None`` among them means
            that it may stay. Most norms have one way.
    """

    def __init__(self, gm: fx.GraphModule, rows: list[NodeRecord]) -> None:
        """Find the norms.

        Args:
            gm: the graph module.
            rows: its nodes, as `describe` writes them.
        """
        self.rows = rows
        self._vals = [node.meta.get("val") for node in gm.graph.nodes]
        self._users: list[list[int]] = [[] for _ in rows]
        for i, row in enumerate(rows):
            for place in dict.fromkeys(leaf["node"] for leaf in reads(row) if "node" in leaf):
                self._users[place].append(i)
        found = (self._norm(i) for i in range(len(rows)))
        self.choices = [choice for choice in found if choice]

    @property
    def not_cast_back(self) -> list[Site]:
        """Norms of a cast value whose product is not cast back."""
        return [site for ways in self.choices for site in ways[1:2] if site is not None]

    def fused(self) -> Iterator[tuple[Site, ...]]:
        """Each set of norms that may be fused."""
        for chosen in itertools.product(*self.choices):
            yield tuple(site for site in chosen if site is not None)

    def _norm(self, at: int) -> list[Site | None]:
        """The ways to fuse the norm whose product is this row; empty if it is another product."""
        pair = self._args(at, MUL, 2)
        for x, root in (pair, pair[::-1]) if pair else ():
            found = self._inner(root, at) if _is_node(x) and _is_node(root) else None
            if found is not None and x != root:
                ways: list[Site | None] = self._ways(at, x["node"], *found)
                return ways
        return []

    def _inner(self, root: Encoded, product: int) -> tuple[list[int], float, int] | None:
        """The factors of the square under a root, `eps`, and the row of the square."""
        add = self._only(root, RSQRT, 1, product)
        mean = self._only(add[0], ADD, 2, root["node"]) if add else None
        if not add or not mean or type(mean[1]) is not float:
            return None
        square = self._only(mean[0], MEAN, 3, add[0]["node"])
        if not square or square[2] is not True:
            return None
        at = square[0]["node"] if _is_node(square[0]) else -1
        factors = self._only(square[0], MUL, 2, mean[0]["node"])
        power = self._only(square[0], POW, 2, mean[0]["node"])
        if power and type(power[1]) is int and power[1] == 2:
            factors = [power[0], power[0]]
        if not factors or not all(map(_is_node, factors)) or not self._is_last(square):
            return None
        return [factor["node"] for factor in factors], mean[1], at

    def _is_last(self, mean: list[Encoded]) -> bool:
        """Whether a mean is over the last dimension only."""
        dims = mean[1].get("list") if isinstance(mean[1], dict) else None
        last = self._vals[mean[0]["node"]].ndim - 1
        return dims in ([-1], [last])

    def _ways(self, at: int, x: int, factors: list[int], eps: float, square: int) -> Any:
        source, wide = self._source(x), self._vals[x].dtype == torch.float32
        if not wide or {self._source(factor) for factor in factors} != {source}:
            return []
        one = Site(at, at, x, None, eps, square, x, source)
        if source == x:
            return [self._weighted(one)] if set(factors) == {x} else []
        back = self._users[at]
        dtype = self._vals[source].dtype
        if len(back) == 1 and self._cast_of(back[0]) == at and self._vals[back[0]].dtype == dtype:
            return [self._weighted(replace(one, at=back[0], x=source))]
        weighted = self._weighted(one)
        return list(dict.fromkeys([None, one, weighted]))

    def _weighted(self, site: Site) -> Site:
        """The site including the weight, if there is one."""
        users = self._users[site.at]
        pair = self._args(users[0], MUL, 2) if len(users) == 1 else None
        me = {"node": site.at}
        if not pair or me not in pair or not all(map(_is_node, pair)) or pair[0] == pair[1]:
            return site
        other = pair[1 - pair.index(me)]["node"]
        val, mine = self._vals[other], self._vals[site.at]
        if tuple(val.shape) != tuple(mine.shape[-1:]) or val.dtype != self._vals[site.x].dtype:
            return site
        return replace(site, at=users[0], weight=other)

    def _source(self, row: int) -> int:
        """The half-precision value that a row casts to float32; otherwise the row itself."""
        read = self._cast_of(row)
        wide = self._vals[row].dtype == torch.float32
        return read if read is not None and wide and self._vals[read].dtype in LOW else row

    def _cast_of(self, row: int) -> int | None:
        """The input of a cast."""
        given = self._args(row, CAST, 1)
        return given[0]["node"] if given and _is_node(given[0]) else None

    def _only(
        self, data: Encoded, target: Encoded, count: int, reader: int
    ) -> list[Encoded] | None:
        """The arguments of a call whose only reader is this row."""
        if not _is_node(data) or self._users[data["node"]] != [reader]:
            return None
        return self._args(data["node"], target, count)

    def _args(self, row: int, target: Encoded, count: int) -> list[Encoded] | None:
        """The arguments of a call of an operator: this many, and no keywords.

        A cast has its dtype as a keyword; the dtype of its value shows it.
        """
        found = self.rows[row]
        if found["target"] != target or (found["kwargs"]["dict"] and target != CAST):
            return None
        given = found["args"]["tuple"]
        return given if len(given) == count else None
