"""Prints the table of APIs: ``python -m tests.unit.lessons.census``."""

from __future__ import annotations

from tests.unit.lessons.census import table

print(table())
