"""The answer key of `node_table`: each node with its counts, from a walk through its arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from torch import fx, nn

from autograder.authoring.key import (
    AnswerKey,
    Evidence,
    Finding,
    Rule,
    answer_of,
    caller_untouched,
    nodes_made,
    returns,
    right_value_of,
)


def _leaves(value: Any) -> Iterator[Any]:
    """The values in nested arguments, from left to right."""
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _reads(node: fx.Node) -> list[fx.Node]:
    leaves = _leaves((node.args, node.kwargs))
    return list(dict.fromkeys(leaf for leaf in leaves if isinstance(leaf, fx.Node)))


def rows_of(model: nn.Module) -> list[tuple[str, str, int, int]]:
    """A row for each node of a fresh trace: opcode, name, number of nodes read, number of users."""
    nodes = nodes_made(model)
    readers = Counter(read for node in nodes for read in _reads(node))
    return [(node.op, node.name, len(_reads(node)), readers[node]) for node in nodes]


COLUMNS = ("the opcode", "the name", "the number of nodes read", "the number of users")

IN_PART = {"task": (0, 1), "inputs": (0, 1, 2), "users": (0, 1, 3)}
"""The columns that count for an aspect, so that a wrong count costs only the points of that count.
Random models count all columns.
"""

_ROWS = right_value_of("row", COLUMNS, key=1)


def _find(evidence: Evidence) -> Iterator[Finding]:
    columns = IN_PART.get(evidence.case.aspect)
    if columns is None or not _holds(evidence, columns):
        yield from _ROWS.find(evidence)


def _holds(evidence: Evidence, columns: tuple[int, ...]) -> bool:
    got, want = evidence.outcome.value["list"], evidence.reference.value["list"]
    if any(not isinstance(row, dict) or len(row.get("tuple", ())) != len(COLUMNS) for row in got):
        return False
    ours, theirs = (
        [[(type(row["tuple"][i]), row["tuple"][i]) for i in columns] for row in rows]
        for rows in (got, want)
    )
    return bool(ours == theirs)


KEY = AnswerKey(
    (
        returns("list").because("names the kind that came back, before rows are compared"),
        caller_untouched,
        Rule(_ROWS.name, _ROWS.stage, _find),
    ),
    answer_of(rows_of),
)
