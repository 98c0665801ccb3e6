"""Tracers that answer questions about shapes: graphs with node names, and the assumed shapes."""

from __future__ import annotations

from torch import fx

from autograder.core.codec import Encoder
from autograder.core.execution import ErrorRecord
from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import (
    ERROR,
    WHERE,
    Check,
    Parts,
    Runs,
    either,
    fields,
    made_from_class,
    rows,
    text,
)
from autograder.runner.canary import Small
from autograder.runner.kinds.shape_tracer import told


def _schema(parts: Parts) -> tuple[Check, Runs]:
    _, turns = parts.trial.args
    where = parts.fields_of(ErrorRecord, *WHERE, "asked")
    error = fields(where, **parts.fields_of(ErrorRecord, *ERROR))
    found = fields(graph=rows(parts.instruction), assumed=parts.plain, empty=rows(text))
    turn = either(fields(error=error), fields(value=found))
    return made_from_class(parts, [fields(forward=turn) for _ in turns])


def _canary(trial: Trial) -> Reference:
    encoder, model = Encoder(), Small()
    value = told(fx.Tracer().trace(model), None, encoder, model)
    return Reference(None, [{"value": value}], encoder.tensors)


KIND = JudgedKind(_schema, canary=_canary)
