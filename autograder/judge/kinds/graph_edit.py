"""Edits of a graph module: the edited module and the returned value."""

from __future__ import annotations

from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Check, Parts, Runs, fields, graph_module, with_meta


def _schema(parts: Parts) -> tuple[Check, Runs]:
    if not parts.has_graph:
        return fields(graph_module=parts.graph, returned=parts.other), []
    value, runs = graph_module(parts, returned=parts.other)
    return with_meta(value), runs


KIND = JudgedKind(_schema)
