"""Ends a command with a sentence if it cannot do its work, or is stopped."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import typer
from rich.markup import escape

from autograder.cli.terminal import err
from autograder.environment.errors import ClassroomError

STOPPED = 130
"""The exit status of a command that was stopped with Ctrl-C."""


@contextlib.contextmanager
def explained(outcome: str, *kinds: type[Exception]) -> Iterator[None]:
    """End a command with status 1 and a sentence if it cannot do its work.

    Args:
        outcome: the beginning of the message, such as "Nothing was written."
        kinds: exceptions that users can act on, next to `ClassroomError`.
    """
    expected: tuple[type[Exception], ...] = (ClassroomError, *kinds)
    try:
        yield
    except expected as error:
        why = str(error)
        if isinstance(error, OSError):
            where = f"{error.filename}: " if error.filename else ""
            why = f"{where}{error.strerror or error}."
        err.print(f"[red]{outcome}[/red] {escape(why)}")
        raise typer.Exit(1) from None


@contextlib.contextmanager
def interruptible(outcome: str) -> Iterator[None]:
    """End a command with `STOPPED` and a sentence after Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        err.print(f"Stopped. {outcome}")
        raise typer.Exit(STOPPED) from None
