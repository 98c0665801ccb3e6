"""Splits in two: two graph modules, and the values passed from the first to the second."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.judge.evidence import Evidence
from autograder.judge.judged_kind import JudgedKind, Record, compared
from autograder.judge.oracles import model_itself
from autograder.judge.schema import Check, Parts, Runs, data, fields


def _schema(parts: Parts) -> tuple[Check, Runs]:
    if not (parts.has_graph and "tail" in parts.value):
        return data(parts)
    runs = [fields(**parts.of_graph(i, crossing=parts.plain)) for i in parts.inputs]
    return fields(graph_module=parts.graph, tail=parts.graph), runs


def _canary_runs(evidence: Evidence, i: int) -> Iterable[Record]:
    yield evidence.done("results of both")[i], evidence.tensors_from("results of both")
    yield from compared(evidence, evidence.outcome.runs[i])


KIND = JudgedKind(_schema, canary=model_itself, canary_runs=_canary_runs)
