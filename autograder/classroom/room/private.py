"""Keeps new files of a classroom unreadable to other users of the machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def private() -> Iterator[None]:
    """Give access to files and folders created in this context to the current user only."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
