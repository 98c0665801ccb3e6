"""Transformers: the result is a graph module with its `meta`."""

from __future__ import annotations

from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import new_graph_module

KIND = JudgedKind(new_graph_module)
