"""Recorded graphs: compare what two of them compute, and write them as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from autograder.authoring.key import CallRecord, Encoded, target_text, unwrap

LONGEST = 70
_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "gt": ">", "ge": ">=", "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "matmul": "@",
}  # fmt: skip


class Reading:
    """The nodes of a graph, numbered by their computation.

    Nodes that do the same with the same inputs have the same number, in this graph and in all
    others that share the `numbers`. An item of ``unbind`` counts as an item of the tensor, because
    a loop over a tensor gives either.

    Args:
        rows: opcode, name, target, `args` and `kwargs` of each node, in plain form.
        numbers: the numbers given so far.
    """

    def __init__(self, rows: list[CallRecord], numbers: dict[str, int]) -> None:
        self.rows = [
            [row["op"], row["name"], row["target"], row["args"], row["kwargs"]] for row in rows
        ]
        self.names = [str(row["name"]) for row in rows]
        self.meanings: list[list[Encoded]] = []
        self.ids: list[int] = []
        for op, _, target, args, kwargs in self.rows:
            meaning = self._simple([op, target, args, kwargs])
            self.meanings.append(meaning)
            key = json.dumps(self._replaced(meaning), sort_keys=True)
            self.ids.append(numbers.setdefault(key, len(numbers)))

    def _replaced(self, value: Encoded) -> Encoded:
        """Plain data, with each node replaced by its number."""
        if isinstance(value, list):
            return [self._replaced(item) for item in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {"node"} and type(value["node"]) is int:
            place = value["node"]
            known = 0 <= place < len(self.ids)
            return {"same": self.ids[place]} if known else {"unknown": place}
        return {key: self._replaced(item) for key, item in value.items()}

    def _simple(self, meaning: list[Encoded]) -> list[Encoded]:
        """Rewrite an item of ``unbind`` as an item of the tensor that it was called on."""
        op, target, args, kwargs = meaning
        if op != "call_function" or _name(target) != "getitem" or "tuple" not in args:
            return meaning
        items = args["tuple"]
        place = items[0].get("node") if items and isinstance(items[0], dict) else None
        if type(place) is not int or not 0 <= place < len(self.meanings):
            return meaning
        inner = self.meanings[place]
        if _name(inner[1]) != "unbind" or inner[2].get("tuple", [None, None])[1:] not in ([], [0]):
            return meaning
        if inner[3] not in ({"dict": []}, {"dict": [["dim", 0]]}):
            return meaning
        return [op, target, {"tuple": [inner[2]["tuple"][0], *items[1:]]}, kwargs]

    # ------------------------------------------------------------ properties of the graph

    @property
    def parameters(self) -> list[list[Encoded]]:
        """The placeholders."""
        return [row for row in self.meanings if row[0] == "placeholder"]

    @property
    def output(self) -> int:
        """The number of the last node."""
        return self.ids[-1] if self.ids else -1

    @property
    def in_place(self) -> list[int]:
        """The numbers of the in-place method calls, in order."""
        found = zip(self.ids, self.meanings, strict=True)
        return [number for number, row in found if _works_in_place(str(row[0]), row[1])]

    @property
    def plain(self) -> list[list[Encoded]]:
        """The nodes without their names."""
        return [[op, target, args, kwargs] for op, _, target, args, kwargs in self.rows]

    # ------------------------------------------------------------ as text

    def text(self, value: Encoded, depth: int = 0) -> str:
        """Plain data as a person would write it, with each node replaced by its computation."""
        if depth > 6:
            return "…"
        if isinstance(value, list):
            return ", ".join(self.text(item, depth + 1) for item in value)
        if not isinstance(value, dict) or len(value) != 1:
            return repr(value)
        kind, body = unwrap(value)
        if kind == "node":
            known = type(body) is int and 0 <= body < len(self.rows)
            return self._node(body, depth) if known else "?"
        if kind in ("tuple", "list") and isinstance(body, list):
            left, right = "()" if kind == "tuple" else "[]"
            return f"{left}{self.text(body, depth + 1)}{right}"
        if kind == "slice" and isinstance(body, list):
            parts = ["" if part is None else self.text(part, depth + 1) for part in body]
            return ":".join(parts[:2] if parts[2:] == [""] else parts)
        if kind == "dict" and isinstance(body, list):
            rows = (f"{self.text(k, depth + 1)}: {self.text(v, depth + 1)}" for k, v in body)
            return f"{{{', '.join(rows)}}}"
        if kind == "torch":
            return f"torch.{body}"
        return target_text(value) if kind in ("function", "unlisted") else str(body)

    def node(self, name: str) -> str:
        """The computation of the node with this name, in one short line."""
        text = self._node(self.names.index(name), 0) if name in self.names else name
        return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"

    def _node(self, place: int, depth: int) -> str:
        op, _, target, args, kwargs = self.rows[place]
        name, items = _name(target), args.get("tuple", []) if isinstance(args, dict) else []
        texts = [self.text(item, depth + 1) for item in items]
        words = kwargs.get("dict", []) if isinstance(kwargs, dict) else []
        texts_of_words = [f"{key}={self.text(item, depth + 1)}" for key, item in words]
        inside = ", ".join(texts + texts_of_words)
        if op == "placeholder":
            return str(target)
        if op == "get_attr":
            return f"self.{target}"
        if op == "call_module":
            return f"self.{target}({inside})"
        if op == "call_method" and texts:
            return f"{texts[0]}.{target}({', '.join(texts[1:] + texts_of_words)})"
        if name == "getattr" and len(texts) == 2:
            return f"{texts[0]}.{texts[1].strip(chr(39))}"
        if name == "getitem" and len(texts) == 2:
            return f"{texts[0]}[{texts[1]}]"
        if name in _INFIX and len(texts) == 2 and "operator" in str(target):
            between = f"{texts[0]} {_INFIX[name]} {texts[1]}"
            return f"({between})" if depth else between
        return f"{name if op == 'call_function' else op}({inside})"


def _name(target: Encoded) -> str:
    """The last part of a target's name."""
    return target_text(target).rpartition(".")[2]


def _works_in_place(op: str, target: Encoded) -> bool:
    return op == "call_method" and str(target).endswith("_") and not str(target).endswith("__")


def first_difference(mine: Reading, other: Reading) -> tuple[str, str]:
    """The first difference of two graphs, seen from their results: the text of each."""
    if not mine.rows or not other.rows:
        return "nothing", "a graph"
    return _difference(mine, {"node": len(mine.rows) - 1}, other, {"node": len(other.rows) - 1})


def _difference(mine: Reading, a: Encoded, other: Reading, b: Encoded) -> tuple[str, str]:
    is_node = isinstance(a, dict) and "node" in a
    for below in _pairs(mine, a, other, b):
        if is_node and not any(_pairs(mine, below[0], other, below[1])):
            break  # different numbers of arguments: the call as a whole says more
        return _difference(mine, below[0], other, below[1])
    return _short(mine.text(a)), _short(other.text(b))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _pairs(
    mine: Reading, a: Encoded, other: Reading, b: Encoded
) -> Iterator[tuple[Encoded, Encoded]]:
    """The differing parts at the same place in both, the first one first."""
    left, right = _parts(mine, a), _parts(other, b)
    if left is None or right is None or left[0] != right[0] or len(left[1]) != len(right[1]):
        return
    for x, y in zip(left[1], right[1], strict=True):
        if mine._replaced(x) != other._replaced(y):
            yield x, y


def _parts(reading: Reading, value: Encoded) -> tuple[Any, list[Encoded]] | None:
    """The kind of plain data, and its parts."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    kind, body = unwrap(value)
    if kind == "node" and type(body) is int and 0 <= body < len(reading.meanings):
        op, target, args, kwargs = reading.meanings[body]
        return [op, target], [args, kwargs]
    if kind in ("tuple", "list", "slice") and isinstance(body, list):
        return kind, body
    if kind == "dict" and isinstance(body, list):
        return [kind, [row[0] for row in body]], [row[1] for row in body]
    return None
