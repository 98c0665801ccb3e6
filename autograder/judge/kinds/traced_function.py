"""Functions that must be traceable: run eagerly, traced, and run as a graph."""

from __future__ import annotations

import torch

from autograder.judge.judged_kind import JudgedKind
from autograder.judge.oracles import runs_of
from autograder.judge.schema import Check, Parts, Runs, fields


def _schema(parts: Parts) -> tuple[Check, Runs]:
    ways = [{"eager": parts.record(i)} for i in parts.inputs]
    if not parts.has_graph:
        return fields(trace_error=parts.error), [fields(**way) for way in ways]
    runs = [fields(**ways[i], **parts.of_graph(i)) for i in parts.inputs]
    return fields(graph_module=parts.graph), runs


KIND = JudgedKind(_schema, canary=lambda trial: runs_of(torch.sigmoid, trial))
