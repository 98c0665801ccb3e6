"""Duels: the trace of a learner's model, and its runs on inputs that the learner chose."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from autograder.core.graph_jobs import TIMES
from autograder.judge.duels import JOB
from autograder.judge.evidence import Evidence
from autograder.judge.judged_kind import JudgedKind, Record
from autograder.judge.oracles import runs_of
from autograder.judge.schema import Check, Parts, Runs, either, fields, plain, rows, text, whole
from autograder.runner.canary import inputs_alone


def _schema(parts: Parts) -> tuple[Check, Runs]:
    if not parts.has_graph:
        return either(text, fields(failed=text, error=parts.error)), []
    given = parts.value.get("given")
    views = given.get("views") if isinstance(given, dict) else ()
    count = len(views) if isinstance(views, list) else 0
    view = rows(either(whole, rows(whole)), 4)
    record = parts.record(None)
    return fields(
        graph_module=parts.graph,
        given=fields(values=fields(tuple=rows(plain(count))), views=rows(view)),
        ran=fields(before=record, after=record, trace=record),
    ), []


def _canary_runs(evidence: Evidence, i: int) -> Iterable[Record]:
    found, tensors = evidence.done_with(JOB, evidence.outcome, TIMES)
    for record in found if isinstance(found, list) else [{}]:
        yield record, tensors


KIND = JudgedKind(
    _schema,
    canary=lambda trial: runs_of(torch.sigmoid, inputs_alone(0)),
    canary_runs=_canary_runs,
    is_model=True,
)
