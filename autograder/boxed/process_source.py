"""The judge's source of processes for an answer."""

from __future__ import annotations

from typing import Protocol

from autograder.sandbox.client import Process


class ProcessSource(Protocol):
    """Starts processes for one submission."""

    can_fork: bool
    """Whether answers can be set aside in forked children."""

    def process(self, entry: str) -> Process:
        """Start a process: ``"student"`` for a notebook, ``"graphs"`` for its graphs."""
