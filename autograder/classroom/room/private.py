"""What lies in a classroom can be read by nobody else on the machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def private() -> Iterator[None]:
    """Files and folders that are made meanwhile are open to nobody but who makes them."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
