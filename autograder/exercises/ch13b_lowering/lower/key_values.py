"""The value of each node in a lowered graph, in terms of the given graph's values.

Names and order are free in the result. So a value is identified by its computation: two nodes have
the same value if they call the same thing with the same values. The given graph, the compiled
graphs and the returned graph share one table of values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from autograder.authoring.key import (
    Encoded,
    Encoder,
    Evidence,
    GraphRecord,
    ModuleRecord,
    NodeRecord,
    TensorRecord,
    describe,
    target_path,
)

GETITEM = {"function": "operator.getitem"}


class Values:
    """Numbers for values: equal calls of equal values have the same number."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def of(self, key: Any) -> int:
        """The number of a key."""
        return self._numbers.setdefault(key, len(self._numbers))

    def of_call(self, row: NodeRecord, target: Any, read: list[Any]) -> int:
        """The number of a node's call with its inputs.

        Args:
            row: the node.
            target: what it calls, in the same form for all graphs.
            read: the number of each earlier node, or a tuple of numbers.
        """
        if row["op"] == "placeholder":  # its default belongs to the signature
            return self.of((row["op"], target))
        return self.of((row["op"], target, _skeleton([row["args"], row["kwargs"]], read)))


def _skeleton(data: Encoded, read: list[Any]) -> Any:
    """Arguments, with each node replaced by its number."""
    if isinstance(data, list):
        return tuple(_skeleton(item, read) for item in data)
    if not isinstance(data, dict):
        return type(data).__name__, data
    if "node" in data:
        place = data["node"]
        known = type(place) is int and 0 <= place < len(read)
        return "value", read[place] if known else None
    if "dict" in data:  # the order of keywords is free
        items = sorted(data["dict"], key=lambda item: str(item[0]))
        return "dict", tuple((str(key), _skeleton(value, read)) for key, value in items)
    return tuple((key, _skeleton(value, read)) for key, value in data.items())


class Parts:
    """The modules and tensors of a description, by their names in the given module.

    Args:
        description: the description.
        tensors: the description's table of tensors.
        given: the parts of the given graph module, for comparison with copies.
    """

    def __init__(
        self, description: GraphRecord, tensors: list[torch.Tensor], given: Parts | None = None
    ) -> None:
        self.tensors, self._given = tensors, given
        self.modules: dict[str, ModuleRecord] = {}
        for row in description["modules"]:
            own = self.modules[row["same_as"]] if "same_as" in row else row
            self.modules[row["path"]] = own
        self.entries: dict[str, TensorRecord | None] = {}
        self.parameters: set[str] = set()
        for path, row in self.modules.items():
            prefix = f"{path}." if path else ""
            for name, entry in {**row["params"], **row["buffers"], **row["tensors"]}.items():
                self.entries[prefix + name] = entry
            self.parameters |= {prefix + name for name in row["params"]}

    def module(self, path: str) -> str | None:
        """The given module's name for a called module; ``None`` if it is from elsewhere."""
        row = self.modules.get(path)
        if row is None:
            return None
        if row["origin"] is not None:
            return str(row["origin"])
        if self._given is None:
            return path
        alike = [p for p in self._given.modules if self._is_copy(path, p)]
        return self._given.module(path if path in alike else alike[0]) if alike else None

    def _is_copy(self, path: str, other: str) -> bool:
        """Whether a module equals one of the given module, including its submodules."""
        assert self._given is not None
        below = {p.removeprefix(path): row for p, row in self.modules.items() if _in(p, path)}
        theirs = {
            p.removeprefix(other): row for p, row in self._given.modules.items() if _in(p, other)
        }
        return below.keys() == theirs.keys() and all(
            self._same_state(row, theirs[key]) for key, row in below.items()
        )

    def _same_state(self, row: ModuleRecord, other: ModuleRecord) -> bool:
        assert self._given is not None
        if (row["class"], row["training"]) != (other["class"], other["training"]):
            return False
        if row["children"] != other["children"]:
            return False
        for mine, theirs in ((row["params"], other["params"]), (row["buffers"], other["buffers"])):
            if mine.keys() != theirs.keys():
                return False
            if not all(self._same(entry, theirs[name]) for name, entry in mine.items()):
                return False
        return row["attrs"].keys() == other["attrs"].keys() and all(
            _is_tensor(value) or value == other["attrs"][name]
            for name, value in row["attrs"].items()
        )

    def _same(self, entry: TensorRecord | None, other: TensorRecord | None) -> bool:
        assert self._given is not None
        if entry is None or other is None:
            return entry is other
        return _equal(self.tensors[entry["tensor"]], self._given.tensors[other["tensor"]])

    def tensor(self, path: str) -> str | None:
        """The given module's name for a tensor; ``None`` if it is from elsewhere."""
        entry = self.entries.get(path)
        if entry is None:
            return path if path in self.entries else None
        if entry["origin"] is not None:
            return str(entry["origin"])
        if self._given is None:
            return path
        alike = [p for p, other in self._given.entries.items() if self._same(entry, other)]
        return self._given.tensor(path if path in alike else alike[0]) if alike else None

    def is_own_parameter(self, path: str) -> bool:
        """Whether this is a parameter that the given module does not have."""
        entry = self.entries.get(path)
        return path in self.parameters and entry is not None and entry["origin"] is None


def _in(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}.")


def _is_tensor(value: Encoded) -> bool:
    return isinstance(value, dict) and "tensor" in value


def _equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a, b)


def _target(row: NodeRecord, parts: Parts) -> Any:
    """The target of a node, in the same form for all graphs."""
    target = row["target"]
    if row["op"] == "call_module":
        return parts.module(target_path(row)) or ("not of the given module", target)
    if row["op"] == "get_attr":
        return parts.tensor(target_path(row)) or ("not of the given module", target)
    return str(target)


def reads_of(data: Encoded) -> Iterator[int]:
    """The indices of the nodes in some arguments, with repetitions."""
    if isinstance(data, list):
        for item in data:
            yield from reads_of(item)
    elif isinstance(data, dict):
        if "node" in data and type(data["node"]) is int:
            yield data["node"]
        else:
            for body in data.values():
                yield from reads_of(body)


def _read_by(row: NodeRecord) -> list[int]:
    return list(dict.fromkeys(reads_of([row["args"], row["kwargs"]])))


class Given:
    """The given graph, and the required result.

    Attributes:
        rows: its nodes.
        names: their names.
        numbers: the numbers of their values.
        sets: the names in each set.
        set_of: the number of each node's set; ``None`` for a node outside all sets.
    """

    def __init__(self, evidence: Evidence, values: Values) -> None:
        gm, self.sets, _ = evidence.trial.args
        encoder = Encoder(evidence.trial.functions)
        described = describe(gm, encoder, gm)
        self.parts = Parts(described, encoder.tensors)
        self.rows = described["nodes"]
        self.names = [str(row["name"]) for row in self.rows]
        self.metas = [dict(node.meta) for node in gm.graph.nodes]
        self.numbers: list[int] = []
        for row in self.rows:
            self.numbers.append(values.of_call(row, _target(row, self.parts), self.numbers))
        of = {name: i for i, names in enumerate(self.sets) for name in names}
        self.set_of = [of.get(name) for name in self.names]
        self.readers: list[list[int]] = [[] for _ in self.rows]
        for i, row in enumerate(self.rows):
            for read in _read_by(row):
                self.readers[read].append(i)

    def members(self, number: int) -> list[int]:
        """The indices of the nodes of a set."""
        return [i for i, own in enumerate(self.set_of) if own == number]

    def incoming(self, number: int) -> list[int]:
        """The indices of the nodes whose values a set reads from outside."""
        read = dict.fromkeys(r for i in self.members(number) for r in _read_by(self.rows[i]))
        return [
            r for r in read if self.set_of[r] != number and self.rows[r]["op"] != "get_attr"
        ]  # fmt: skip

    def outgoing(self, number: int) -> list[int]:
        """The indices of the nodes of a set that are read outside it."""
        return [
            i
            for i in self.members(number)
            if any(self.set_of[reader] != number for reader in self.readers[i])
        ]

    @cached_property
    def outside(self) -> list[int]:
        """The indices of the calls outside all sets."""
        return [
            i
            for i, row in enumerate(self.rows)
            if row["op"].startswith("call_") and self.set_of[i] is None
        ]

    @cached_property
    def attributes_outside(self) -> list[int]:
        """The indices of the `get_attr` nodes that stay, because not only sets read them."""
        return [
            i
            for i, row in enumerate(self.rows)
            if row["op"] == "get_attr"
            and (not (readers := self.readers[i]) or any(self.set_of[r] is None for r in readers))
        ]

    def named(self, number: int) -> str | None:
        """The name of a node with this value, if there is one."""
        return self.names[self.numbers.index(number)] if number in self.numbers else None

    def is_like(self, row: NodeRecord, parts: Parts, place: int) -> bool:
        """Whether a node has the same target as a node of the given graph, with any inputs."""
        other = self.rows[place]
        return row["op"] == other["op"] and bool(_target(row, parts) == _target(other, self.parts))


@dataclass
class Piece:
    """The arguments of one call of the compiler.

    Attributes:
        rows: the nodes of the graph.
        parts: its modules and tensors.
        examples: the plain form of the examples.
        numbers: the numbers of the nodes' values, by index.
        arguments: the indices, in the result's graph, of the passed values.
        incoming: the numbers of these values.
        outgoing: the numbers of the returned values.
        set: the number of its set.
    """

    rows: list[NodeRecord]
    parts: Parts
    examples: Encoded
    numbers: list[int] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    incoming: list[int] = field(default_factory=list)
    outgoing: list[Any] = field(default_factory=list)
    set: int = 0

    def evaluate(self, values: Values) -> None:
        """Compute the numbers of all values from the passed ones."""
        given = list(self.incoming)
        for row in self.rows:
            if row["op"] == "placeholder":
                self.numbers.append(given.pop(0))
            else:
                number = values.of_call(row, _target(row, self.parts), self.numbers)
                self.numbers.append(number)
        result = self.rows[-1]["args"]["tuple"][0]["tuple"]
        self.outgoing = [
            self.numbers[item["node"]]
            if isinstance(item, dict) and "node" in item
            else ("no node", str(item))
            for item in result
        ]

    def calls(self) -> list[int]:
        """The indices of its calls."""
        return [i for i, row in enumerate(self.rows) if row["op"].startswith("call_")]

    def unread(self, op: str) -> list[str]:
        """The names of its unread nodes with this opcode."""
        read = {i for row in self.rows for i in _read_by(row)}
        return [row["name"] for i, row in enumerate(self.rows) if row["op"] == op and i not in read]


class Lowered:
    """A result, with the value of each of its nodes.

    Attributes:
        given: the given graph.
        rows: the nodes of the returned graph.
        numbers: the numbers of their values; for a compiled call, a tuple of all its values.
        pieces: the compiled graphs, in the order of the compiler calls.
        calls: the indices of the compiled calls, by the number of the piece.
        taken: the indices of the `getitem` nodes that read a compiled call.
    """

    def __init__(self, evidence: Evidence) -> None:
        value, tensors = evidence.outcome.value, evidence.outcome.tensors
        self.values = Values()
        self.given = Given(evidence, self.values)
        self.parts = Parts(value["graph_module"], tensors, self.given.parts)
        self.rows = value["graph_module"]["nodes"]
        self.pieces = [
            Piece(
                piece["graph_module"]["nodes"],
                Parts(piece["graph_module"], tensors, self.given.parts),
                piece["examples"],
            )
            for piece in value["pieces"]
        ]
        self.calls = {
            value["compiled"][row["target"]]: i
            for i, row in enumerate(self.rows)
            if row["op"] == "call_module" and row["target"] in value["compiled"]
        }
        self.numbers: list[Any] = []
        self.taken: set[int] = set()
        self._evaluate()
        self._match()

    def _evaluate(self) -> None:
        pieces = {place: self.pieces[number] for number, place in self.calls.items()}
        for i, row in enumerate(self.rows):
            if i in pieces:
                piece = pieces[i]
                piece.arguments = [item["node"] for item in row["args"]["tuple"]]
                piece.incoming = [self.numbers[place] for place in piece.arguments]
                piece.evaluate(self.values)
                self.numbers.append(tuple(piece.outgoing))
            elif (taken := self._taken_out(row, pieces)) is not None:
                self.taken.add(i)
                self.numbers.append(taken)
            else:
                target = _target(row, self.parts)
                self.numbers.append(self.values.of_call(row, target, self.numbers))

    def _taken_out(self, row: NodeRecord, pieces: dict[int, Piece]) -> Any:
        """The number of the value that a `getitem` reads from a compiled call; else ``None``."""
        args = row["args"]["tuple"]
        if row["target"] != GETITEM or len(args) != 2 or not isinstance(args[0], dict):
            return None
        source, place = pieces.get(args[0].get("node", -1)), args[1]
        count = len(source.outgoing) if source else 0
        if source is None or type(place) is not int or not -count <= place < count:
            return None
        return source.outgoing[place]

    def _match(self) -> None:
        """Assign each piece to a set: an exact match, or else the most similar one."""
        open_sets: dict[Any, list[int]] = {}
        for number in range(len(self.given.sets)):
            open_sets.setdefault(_profile(self._wanted(number)), []).append(number)
        others = []
        for piece in self.pieces:
            fitting = open_sets.get(_profile(self._found(piece)))
            if fitting:
                piece.set = fitting.pop(0)
            else:
                others.append(piece)
        left = [number for numbers in open_sets.values() for number in numbers]
        for piece in others:
            piece.set = max(left, key=lambda number: self._likeness(piece, number))
            left.remove(piece.set)

    def _wanted(self, number: int) -> tuple[Counter[Any], ...]:
        """The values that a set must compute, take and return."""
        given = self.given
        places = given.members(number), given.incoming(number), given.outgoing(number)
        return tuple(Counter(given.numbers[i] for i in each) for each in places)

    def _found(self, piece: Piece) -> tuple[Counter[Any], ...]:
        """The values that a piece computes, takes and returns."""
        calls = [piece.numbers[i] for i in piece.calls()]
        return Counter(calls), Counter(piece.incoming), Counter(piece.outgoing)

    def _likeness(self, piece: Piece, number: int) -> tuple[int, ...]:
        """The similarity of a piece and a set: by calls, then by passed and returned values."""
        pairs = zip(self._wanted(number), self._found(piece), strict=True)
        like = sum(
            self.given.is_like(piece.rows[i], piece.parts, place)
            for i in piece.calls()
            for place in self.given.members(number)
        )
        return (
            like,
            *(2 * (want & got).total() - want.total() - got.total() for want, got in pairs),
        )


def _profile(counters: tuple[Counter[Any], ...]) -> Any:
    return tuple(frozenset(counter.items()) for counter in counters)
