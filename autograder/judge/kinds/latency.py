"""Latency measurements: each run records one call, and whether gradients are enabled after it."""

from __future__ import annotations

from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.judge.judged_kind import JudgedKind
from autograder.judge.oracles import runs_of
from autograder.judge.schema import Check, Parts, Runs, fields, flag, nothing


def _schema(parts: Parts) -> tuple[Check, Runs]:
    return nothing, [fields(forward=parts.record(i), afterwards=flag) for i in parts.inputs]


def _canary(trial: Trial) -> Reference:
    found = runs_of(trial.args[0], Trial(inputs=trial.args[2:]))
    return Reference(None, found.runs * len(trial.inputs), found.tensors)


KIND = JudgedKind(_schema, canary=_canary)
