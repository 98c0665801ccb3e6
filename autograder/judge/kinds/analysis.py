"""Analyses: the result is plain data."""

from __future__ import annotations

from autograder.core.outcome import Reference
from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import data

KIND = JudgedKind(data, canary=lambda trial: Reference(5))
