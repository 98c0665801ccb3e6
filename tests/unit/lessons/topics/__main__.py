"""Prints the table of topics: ``python -m tests.unit.lessons.topics``."""

from __future__ import annotations

from tests.unit.lessons.topics import table

print(table())
