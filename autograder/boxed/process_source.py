"""Where the judge gets processes for an answer from."""

from __future__ import annotations

from typing import Protocol

from autograder.sandbox.client import Process


class ProcessSource(Protocol):
    """Starts processes for one submission."""

    can_fork: bool
    """Whether answers can be set aside in forked children."""

    def process(self, entry: str) -> Process:
        """A new process: ``"student"`` for a notebook, ``"graphs"`` for what it described."""
