"""Functions that change a model in place: the result and all tensors after each call."""

from __future__ import annotations

from autograder.core.outcome import CALLS, GIVEN, Reference
from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Check, Parts, Runs, either, fields, nothing, rows, whole


def _schema(parts: Parts) -> tuple[Check, Runs]:
    back = either(fields(given=whole), parts.other)
    run = fields(forward=fields(value=back), state=fields(dict=rows(parts.tensor_after)))
    return nothing, [run] * len(CALLS)


KIND = JudgedKind(_schema, canary=lambda trial: Reference(None, [{"value": GIVEN}] * len(CALLS)))
