"""Numbers the expressions that the nodes of a graph compute, regardless of names and order.

Two nodes get the same number if and only if they have the same opcode, target and constants, and
their inputs have the same numbers. So comparing the numbers of two graphs compares the graphs
without regard to names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from autograder.core.codec import Encoded, Tagged, unwrap
from autograder.core.graph_record import CallRecord

Table = dict[Hashable, int]
# The number in such a name depends only on how often the model was traced.
_CONSTANT = re.compile(r"_tensor_constant\d+$")


def expressions(
    rows: Sequence[CallRecord],
    table: Table,
    *,
    target: Callable[[CallRecord], Encoded] | None = None,
    readers_see: Callable[[CallRecord, int], int] | None = None,
) -> list[int]:
    """The number of each node's expression, in graph order.

    Args:
        rows: the nodes of a graph, each defined before it is used.
        table: the numbers given so far; use one table for all graphs to compare.
        target: returns the target to assume for a node, instead of its own.
        readers_see: returns the number that readers of a node see, instead of its own.
    """
    own: list[int] = []
    seen: list[int] = []
    for row in rows:
        called = row["target"] if target is None else target(row)
        if isinstance(called, str):
            called = _CONSTANT.sub("_tensor_constant", called)
        kwargs = sorted(_frozen(row["kwargs"], seen)[1], key=repr)
        key = (row["op"], _frozen(called, seen), _frozen(row["args"], seen), tuple(kwargs))
        own.append(number(table, key))
        seen.append(own[-1] if readers_see is None else readers_see(row, own[-1]))
    return own


def number(table: Table, key: Hashable) -> int:
    """The number of a key; a new one if it has none yet."""
    return table.setdefault(key, len(table))


def call_of(table: Table, function: Tagged, argument: int) -> int:
    """The number of the call of a function on one value, given by its number."""
    args = ("tuple", (("node", argument),))
    return number(table, ("call_function", _frozen(function, []), args, ()))


def missing_and_extra(want: Sequence[int], got: Sequence[int]) -> tuple[list[int], list[int]]:
    """Positions in `want` of numbers missing in `got`, and positions in `got` of excess ones."""
    return _beyond(want, got), _beyond(got, want)


def _beyond(these: Sequence[int], those: Sequence[int]) -> list[int]:
    left = Counter(those)
    places = []
    for place, value in enumerate(these):
        if left[value] > 0:
            left[value] -= 1
        else:
            places.append(place)
    return places


def _frozen(data: Encoded | list[Encoded], seen: Sequence[int]) -> tuple[Any, ...]:
    """Plain data in hashable form; nodes become the numbers that their readers see."""
    if isinstance(data, list):  # a dictionary's item
        return tuple(_frozen(item, seen) for item in data)
    if not isinstance(data, dict):
        return (type(data).__name__, data)
    kind, body = unwrap(data)
    if kind == "node":
        return ("node", seen[body] if body < len(seen) else -1)
    if isinstance(body, list):
        return (kind, tuple(_frozen(item, seen) for item in body))
    return (kind, body)
