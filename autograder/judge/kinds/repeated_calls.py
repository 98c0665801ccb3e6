"""Analyses that must not keep state: earlier results, as returned and as they are at the end."""

from __future__ import annotations

from autograder.core.outcome import Reference
from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Check, Parts, Runs, either, fields


def _schema(parts: Parts) -> tuple[Check, Runs]:
    earlier = either(fields(error=parts.error), fields(value=parts.plain, then=parts.plain))
    return parts.other, [fields(forward=earlier) for _ in parts.trial.watch]


KIND = JudgedKind(_schema, canary=lambda trial: Reference({"list": ["layer.weight", "layer.bias"]}))
