"""Passes whose result may call the learner's code: how this code detaches gradients, by node."""

from __future__ import annotations

from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Check, Parts, Runs, graph_module, table, text


def _schema(parts: Parts) -> tuple[Check, Runs]:
    return graph_module(parts, cuts=table(text))


KIND = JudgedKind(_schema)
