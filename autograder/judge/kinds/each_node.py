"""Functions of a node: one value for each node of the graph."""

from __future__ import annotations

from autograder.core.codec import Encoded, named_node
from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Check, Parts, Runs, fields, rows

_OPS = ["placeholder", "call_module", "call_function", "call_function", "output"]


def _schema(parts: Parts) -> tuple[Check, Runs]:
    (gm,) = parts.trial.args
    return fields(list=rows(parts.plain, len(gm.graph.nodes))), []


def _by_name(rows: Encoded, trial: Trial) -> Encoded:
    """The values as a dictionary from node names; nodes in the values become names, too."""
    names = [node.name for node in trial.args[0].graph.nodes]

    def named(value: Encoded) -> Encoded:
        if isinstance(value, dict) and "list" in value:
            return {"list": [named(item) for item in value["list"]]}
        if isinstance(value, dict) and "node" in value:
            place = value["node"]
            known = type(place) is int and 0 <= place < len(names)
            return named_node(names[place] if known else "?")
        return value

    if not (isinstance(rows, dict) and "list" in rows):
        return rows
    named_rows = zip(names, rows["list"], strict=False)
    return {"dict": [[named_node(name), named(row)] for name, row in named_rows]}


KIND = JudgedKind(_schema, canary=lambda trial: Reference({"list": list(_OPS)}), shown=_by_name)
