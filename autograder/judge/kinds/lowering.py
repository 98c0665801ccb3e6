"""Lowering to a backend: the graph module and the subgraphs that the compiler received."""

from __future__ import annotations

from autograder.judge.judged_kind import JudgedKind
from autograder.judge.oracles import model_itself
from autograder.judge.schema import (
    Check,
    Parts,
    Runs,
    data,
    either,
    fields,
    flag,
    graph_module,
    rows,
    table,
    text,
    whole,
)


def _schema(parts: Parts) -> tuple[Check, Runs]:
    if not parts.has_graph:
        return data(parts)
    given = {"examples": parts.plain}
    piece = either(fields(kind=text, **given), fields(graph_module=parts.bare_graph, **given))
    return graph_module(parts, new=flag, pieces=rows(piece), compiled=table(whole))


KIND = JudgedKind(_schema, canary=model_itself)
