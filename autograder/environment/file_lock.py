"""Locks an open file for this process, on every system."""

from __future__ import annotations

import sys
from typing import IO, Any


def lock(file: IO[Any]) -> None:
    """Lock a file until it is closed.

    Raises:
        OSError: another process has locked it, or files of this disk cannot be locked.
    """
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
