"""The answer key of `fold_qdq`: the judge folds the rows itself, and compares node values."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    NodeRecord,
    Stage,
    model_itself,
    rule,
)
from autograder.exercises.ch14_quantization.keys import (
    DEQUANTIZE,
    QUANTIZE,
    by_name,
    given,
    is_call_of,
    lost_meta,
    same_number,
)

MOVES = ("reshape", "flatten", "transpose", "permute")
Rows = dict[str, NodeRecord]


def is_move(row: NodeRecord) -> bool:
    """Whether a node only moves values, by one of the four methods."""
    return bool(row["op"] == "call_method" and row["target"] in MOVES)


def reads(row: NodeRecord) -> list[str]:
    """The names in a node's arguments, with repetitions."""

    def names(data: Any) -> Iterable[str]:
        if isinstance(data, dict):
            if isinstance(data.get("node"), str):
                yield data["node"]
            for value in data.values():
                yield from names(value)
        elif isinstance(data, list):
            for item in data:
                yield from names(item)

    return [*names(row["args"]), *names(row["kwargs"])]


def first_of(row: NodeRecord) -> str | None:
    """The node that is a call's first argument."""
    args: list[Any] = row["args"].get("tuple") or [None]
    return args[0].get("node") if isinstance(args[0], dict) else None


def readers(rows: Rows) -> dict[str, list[str]]:
    """The readers of each node, by name."""
    found: dict[str, list[str]] = {name: [] for name in rows}
    for name, row in rows.items():
        for read in dict.fromkeys(reads(row)):
            found.setdefault(read, []).append(name)
    return found


@dataclass
class Folding:
    """The changes that folding makes to a graph.

    Attributes:
        stands_for: for each removed `quantize`, the value that its readers read instead.
        moved: the first node of each way, with its new input.
        ways: all nodes that now move 8-bit values.
        gone: all removed nodes.
    """

    stands_for: dict[str, str]
    moved: dict[str, str]
    ways: set[str]
    gone: set[str]


def folding(rows: Rows) -> Folding:
    """Find the canceling pairs in a graph, and the nodes that become unread."""
    found, users = Folding({}, {}, set(), set()), readers(rows)
    for name, row in rows.items():
        mine = given(row) if is_call_of(row, QUANTIZE) else None
        if mine is None:
            continue
        at: str | None = mine[0]
        way: list[str] = []
        while at in rows and is_move(rows[at]) and len(users[at]) == 1:
            way.append(at)
            at = first_of(rows[at])
        theirs = given(rows[at]) if at in rows and is_call_of(rows[at], DEQUANTIZE) else None
        if theirs is None or not same_number(mine[1], theirs[1]):
            continue
        source = found.stands_for.get(theirs[0], theirs[0])
        found.stands_for[name] = way[0] if way else source
        found.ways.update(way)
        if way:
            found.moved[way[-1]] = source
        found.gone.add(name)
    after = folded(rows, found)
    while unread := {n for n, row in after.items() if is_call_of(row, DEQUANTIZE)
                     and not readers(after)[n]}:  # fmt: skip
        found.gone |= unread
        after = folded(rows, found)
    return found


def folded(rows: Rows, found: Folding) -> Rows:
    """The remaining rows, with their new inputs."""

    def exchanged(data: Encoded, to: dict[str, str]) -> Encoded:
        if isinstance(data, list):
            return [exchanged(item, to) for item in data]
        if not isinstance(data, dict):
            return data
        if isinstance(name := data.get("node"), str):
            return {"node": to.get(name, name)}
        return {key: exchanged(value, to) for key, value in data.items()}

    left: Rows = {}
    for name, row in rows.items():
        if name in found.gone:
            continue
        to = dict(found.stands_for)
        if name in found.moved:
            to[str(first_of(row))] = found.moved[name]
        args, kwargs = exchanged(row["args"], to), exchanged(row["kwargs"], to)
        left[name] = {**row, "args": args, "kwargs": kwargs}
    return left


def expressions(rows: Rows, table: dict[str, int]) -> dict[str, int]:
    """A number for each node's value: equal for equal calls of equal values."""
    found: dict[str, int] = {}

    def told(data: Encoded) -> Encoded:
        if isinstance(data, list):
            return [told(item) for item in data]
        if not isinstance(data, dict):
            return data
        if isinstance(name := data.get("node"), str):
            return {"number": found.get(name, -1)}
        return {key: told(value) for key, value in data.items()}

    for name, row in rows.items():
        key = json.dumps([row["op"], row["target"], told(row["args"]), told(row["kwargs"])])
        found[name] = table.setdefault(key, len(table))
    return found


def _both(evidence: Evidence) -> tuple[Rows, Rows]:
    """The expected rows, and the rows of the result."""
    before = by_name(evidence.traced_graph)
    return folded(before, folding(before)), by_name(evidence.graph)


@rule("nothing left to fold", Stage.STRUCTURE)
def nothing_left(evidence: Evidence) -> Iterable[Finding]:
    """No `quantize` may undo a `dequantize`, and no `dequantize` may be unread."""
    after = by_name(evidence.graph)
    found = folding(after)
    for name in found.stands_for:
        way = any(is_move(after[read]) for read in reads(after[name]) if read in after)
        yield evidence.finding(
            "pair-left",
            f"`{name}` quantizes what was dequantized with the same scale"
            + (", and only moved since." if way else "."),
            "Follow what it reads, upwards. Was this pair created by another change?",
            nodes=(name,),
        )
        return
    for name in found.gone:
        yield evidence.finding(
            "unread-dequantize",
            f"Nobody reads `{name}`, a call of `dequantize`, and it is still there.",
            "Which calls lose their last reader? Some have none from the beginning.",
            nodes=(name,),
        )
        return


@rule("all else stays", Stage.STRUCTURE)
def all_else_stays(evidence: Evidence) -> Iterable[Finding]:
    """Nodes that are not folded must keep their names, order and argument values."""
    before = by_name(evidence.traced_graph)
    may_be_new = folding(before).ways
    want, after = _both(evidence)
    if folding(after).gone:
        return  # another rule reports it
    named = {name: row for name, row in want.items() if name not in may_be_new}
    lost = {name for name, row in named.items() if not _same_call(after.get(name), row)}
    users = readers(want)
    for name in named:
        if name in lost and lost.isdisjoint(users[name]):
            yield evidence.finding(
                "other-nodes-changed",
                f"The given graph has a node `{name}`, which nothing cancels; your result has no "
                "such node of that name.",
                _why_it_stays(want, name),
                nodes=(name,),
            )
            return
    table: dict[str, int] = {}
    theirs, ours = expressions(want, table), expressions(after, table)
    for name in named:
        if theirs[name] != ours[name]:
            yield evidence.finding(
                "wrong-arguments",
                f"`{name}` does not read the values that it must read now.",
                "Print what it reads, and what that reads, before and after. Values of eight bits "
                "and dequantized values are not the same.",
                nodes=(name,),
            )
            return
    kept = [name for name in after if name in named]
    if kept != list(named):
        name = next(mine for mine, other in zip(kept, named, strict=True) if mine != other)
        yield evidence.finding(
            "other-order",
            f"`{name}` is at another place among the nodes that stay.",
            "Nodes that stay keep their order.",
            nodes=(name,),
        )
    elif sorted(ours.values()) != sorted(theirs.values()):
        name = next((name for name in after if name not in before), next(iter(after)))
        yield evidence.finding(
            "left-behind",
            f"Your result has {len(after)} nodes; when all pairs are folded, {len(want)} are left."
            if len(after) != len(want)
            else f"`{name}` of your result computes something that the folded graph does not.",
            "If you replace a node by a new one, erase the old one.",
            nodes=(name,),
        )


def _same_call(mine: NodeRecord | None, row: NodeRecord) -> bool:
    """Whether a node with this name is left and has the same target."""
    return mine is not None and (mine["op"], mine["target"]) == (row["op"], row["target"])


def _why_it_stays(want: Rows, name: str) -> str:
    if want[name]["op"].startswith("call_") and not readers(want)[name]:
        return (
            "Nobody reads it, and it stays all the same: only calls of the given `dequantize` go."
        )
    if is_move(want[name]):
        return "Calls of the four methods are free only between two calls that cancel."
    return (
        "Only equal scales cancel, only in this order, and only the four methods may be in "
        "between, if nobody else reads their values."
    )


@rule("meta kept", Stage.STRUCTURE)
def meta_kept_elsewhere(evidence: Evidence) -> Iterable[Finding]:
    """Each node must keep its `meta`, except nodes that now move 8-bit values."""
    found = folding(by_name(evidence.traced_graph))
    yield from lost_meta(evidence, found.ways | found.gone)  # a new node may reuse a removed name


KEY = AnswerKey(
    (
        *PASS,
        nothing_left,
        all_else_stays.because("names what has changed, before a result differs"),
        meta_kept_elsewhere,
    ),
    model_itself,
)
