"""Interpreters: one interpreter object runs all inputs."""

from __future__ import annotations

from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Check, Parts, Runs, fields, made_from_class


def _schema(parts: Parts) -> tuple[Check, Runs]:
    return made_from_class(parts, [fields(forward=parts.record(i)) for i in parts.inputs])


KIND = JudgedKind(_schema)
