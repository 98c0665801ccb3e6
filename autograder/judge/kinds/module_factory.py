"""Module factories: the returned module is run, and so are the graph modules in it."""

from __future__ import annotations

from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Check, Parts, Runs, data, fields, flag, rows, text


def _schema(parts: Parts) -> tuple[Check, Runs]:
    if parts.has_graph:
        ways = ("forward", "interpreter", "altered")
        runs = [{way: parts.record(i) for way in ways} for i in parts.inputs]
        value = fields(graph_module=parts.graph, generated=flag)
        return value, [fields(**run) for run in runs]
    if isinstance(parts.value, dict) and "module" in parts.value:
        records = [parts.record(i) for i in parts.inputs]
        inside = [rows(fields(given=record, altered=record)) for record in records]
        runs = [{"forward": r, "inside": each} for r, each in zip(records, inside, strict=True)]
        return fields(module=text), [fields(**run) for run in runs]
    return data(parts)


KIND = JudgedKind(_schema)
