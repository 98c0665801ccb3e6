"""Prints the table of topics: ``python -m tests.topics``."""

from __future__ import annotations

from tests.topics import table

print(table())
