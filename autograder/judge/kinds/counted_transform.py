"""Passes that return a graph module and a count."""

from __future__ import annotations

from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Check, Parts, Runs, data, graph_module


def _schema(parts: Parts) -> tuple[Check, Runs]:
    if parts.has_graph and "count" in parts.value:
        return graph_module(parts, count=parts.plain)
    return data(parts)


KIND = JudgedKind(_schema)
