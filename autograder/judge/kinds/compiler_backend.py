"""Answers that PyTorch calls: what is made of them is run."""

from __future__ import annotations

from autograder.judge.field_checks import Check, fields, nothing
from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Parts, Runs


def _schema(parts: Parts) -> tuple[Check, Runs]:
    return nothing, [fields(forward=parts.record(i)) for i in parts.inputs]


KIND = JudgedKind(_schema)
