"""Tracers: the graph of each turn, without node names."""

from __future__ import annotations

from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Check, Parts, Runs, fields, made_from_class, rows
from autograder.runner.canary import Small
from autograder.runner.kinds.tracer import instructions

INSTRUCTION = 4
"""Number of recorded fields of a node: opcode, target, `args` and `kwargs`."""


def _schema(parts: Parts) -> tuple[Check, Runs]:
    _, turns = parts.trial.args
    graph = fields(list=rows(fields(list=rows(parts.plain, INSTRUCTION))))
    return made_from_class(parts, [fields(forward=fields(value=graph)) for _ in turns])


def _canary(trial: Trial) -> Reference:
    encoder = Encoder()
    value = instructions(fx.Tracer().trace(Small()), encoder)
    return Reference(None, [{"value": value}], encoder.tensors)


KIND = JudgedKind(_schema, canary=_canary)
