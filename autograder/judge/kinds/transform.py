"""Passes: the result is a graph module, which is run."""

from __future__ import annotations

from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import graph_module

KIND = JudgedKind(graph_module)
