"""Prints the table of questions: ``python -m tests.questions``."""

from __future__ import annotations

from tests.questions import table

print(table())
