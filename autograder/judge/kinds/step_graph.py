"""Graphs of training steps: the graph module, and the returned value."""

from __future__ import annotations

from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Check, Parts, Runs, data, fields, with_meta


def _schema(parts: Parts) -> tuple[Check, Runs]:
    if not parts.has_graph:
        return data(parts)
    value = fields({"trees": parts.plain}, graph_module=parts.graph, returned=parts.other)
    return with_meta(value), [fields(**parts.of_graph(i)) for i in parts.inputs]


KIND = JudgedKind(_schema)
