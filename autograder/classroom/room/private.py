"""Keeps new files of a classroom unreadable to other users of the machine."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

MIN_SAME_TEXT = 3
"""The number of students who must share a message or model before a page without names quotes it.
A message may contain a student's own words, and each student has other random models."""


@contextlib.contextmanager
def private() -> Iterator[None]:
    """Give access to files and folders created in this context to the current user only."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, completely or not at all."""
    # mkstemp creates the file with mode 0600.
    handle, building = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
        os.replace(building, path)
    except BaseException:
        Path(building).unlink(missing_ok=True)
        raise
