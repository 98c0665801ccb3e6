"""Rewrites that return a graph module with a graph of its own, with its `meta`."""

from __future__ import annotations

from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Check, Parts, Runs, flag, new_graph_module


def _schema(parts: Parts) -> tuple[Check, Runs]:
    return new_graph_module(parts, new=flag)


KIND = JudgedKind(_schema)
