"""Passes that may use own code: how that code cuts off the gradient, by node."""

from __future__ import annotations

from autograder.judge.field_checks import Check, table, text
from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Parts, Runs, graph_module


def _schema(parts: Parts) -> tuple[Check, Runs]:
    return graph_module(parts, cuts=table(text))


KIND = JudgedKind(_schema)
