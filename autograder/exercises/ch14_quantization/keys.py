"""Shared rules of chapter 14's answer keys, for rows by name, pairs and `meta`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from autograder.authoring.key import (
    Encoded,
    Encoder,
    Evidence,
    Finding,
    GraphRecord,
    NodeRecord,
    Stage,
    rule,
    show,
)

QUANTIZE, DEQUANTIZE = {"case": "quantize"}, {"case": "dequantize"}


def is_call_of(row: NodeRecord, function: Encoded) -> bool:
    """Whether a row is a call of one of the chapter's functions."""
    return bool(row["op"] == "call_function" and row["target"] == function)


def key_of_row(row: NodeRecord) -> str:
    """The name of a node; the single output counts by its opcode."""
    return "the output" if row["op"] == "output" else str(row["name"])


def by_name(data: GraphRecord) -> dict[str, NodeRecord]:
    """The rows of a description by name, in graph order, with names in their arguments."""
    names = [key_of_row(row) for row in data["nodes"]]
    return {
        name: {**row, "args": named(row["args"], names), "kwargs": named(row["kwargs"], names)}
        for name, row in zip(names, data["nodes"], strict=True)
    }


def named(data: Encoded, names: list[str]) -> Encoded:
    """Arguments, with each node replaced by its name."""
    if isinstance(data, list):
        return [named(item, names) for item in data]
    if not isinstance(data, dict):
        return data
    if isinstance(place := data.get("node"), int):
        return {"node": names[place]}
    return {key: named(value, names) for key, value in data.items()}


def renamed(data: Encoded, to: dict[str, str]) -> Encoded:
    """Arguments with some nodes replaced by others."""
    if isinstance(data, list):
        return [renamed(item, to) for item in data]
    if not isinstance(data, dict):
        return data
    if isinstance(name := data.get("node"), str):
        return {"node": to.get(name, name)}
    return {key: renamed(value, to) for key, value in data.items()}


def given(row: NodeRecord) -> tuple[str, Encoded] | None:
    """The input and scale of a `quantize` or `dequantize` call; ``None`` for any other form."""
    args = [*row["args"].get("tuple", ()), *(value for _, value in row["kwargs"]["dict"])]
    words = [key for key, _ in row["kwargs"]["dict"]]
    if len(args) != 2 or words not in ([], ["scale"]):
        return None
    name = args[0].get("node") if isinstance(args[0], dict) else None
    return None if name is None else (str(name), args[1])


def same_number(one: Encoded, other: Encoded) -> bool:
    """Whether two scales are equal as numbers."""
    kinds = (int, float)
    return type(one) in kinds and type(other) in kinds and one == other


@rule("a module of its own", Stage.FORM)
def module_of_its_own(evidence: Evidence) -> Iterable[Finding]:
    """The result must be a new module with its own graph."""
    if evidence.has_graph and not evidence.value["new"]:
        yield evidence.finding(
            "not-new",
            f"What {evidence.you} returned has the graph of the module that it was given.",
            "Return a new module, even if there is nothing to do. An edit of one of the two must "
            "not change the other.",
        )


@rule("meta kept", Stage.STRUCTURE)
def meta_kept(evidence: Evidence) -> Iterable[Finding]:
    """Each node of the given graph must keep its `meta`."""
    yield from lost_meta(evidence)


def lost_meta(evidence: Evidence, free: Collection[str] = ()) -> Iterable[Finding]:
    """Report a node that lost its `meta`, unless its name is in `free`."""
    old = {
        "the output" if node.op == "output" else node.name: {
            key: Encoder().encode(value) for key, value in node.meta.items()
        }
        for node in evidence.trial.args[0].graph.nodes
    }
    rows, metas = evidence.graph["nodes"], evidence.graph["meta"]
    for row, meta in zip(rows, metas, strict=True):
        want = meta if row["name"] in free else old.get(key_of_row(row), meta)
        if meta != want:
            key = next(key for key in [*want, *meta] if meta.get(key) != want.get(key))
            has = f"is {show(meta[key])} now" if key in meta else "is gone"
            yield evidence.finding(
                "meta-lost",
                f"The `meta[{key!r}]` of `{row['name']}` {has}.",
                "Which ways of copying a graph or a node keep the `meta`?",
                nodes=(row["name"],),
            )
            return
