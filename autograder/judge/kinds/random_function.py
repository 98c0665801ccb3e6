"""Functions that draw random numbers: each run calls the function twice."""

from __future__ import annotations

import torch

from autograder.judge.judged_kind import JudgedKind, compared
from autograder.judge.oracles import runs_of
from autograder.judge.schema import Check, Parts, Runs, fields


def _schema(parts: Parts) -> tuple[Check, Runs]:
    eager = [{"eager": parts.record(i)} for i in parts.inputs]
    if not parts.has_graph:
        return fields(trace_error=parts.error), [fields(**way) for way in eager]
    ways = ("forward", "interpreter")
    runs = [way | {name: parts.record(i) for name in ways} for i, way in enumerate(eager)]
    return fields(graph_module=parts.graph), [fields(**run) for run in runs]


KIND = JudgedKind(
    _schema,
    canary=lambda trial: runs_of(lambda x: (torch.sigmoid(x), torch.sigmoid(x)), trial),
    # The judge runs the graph only once.
    canary_runs=lambda evidence, i: compared(evidence, evidence.outcome.runs[i]),
)
