"""One process writes into a classroom at a time, and says in a sentence why one cannot."""

from __future__ import annotations

import contextlib
import errno
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.environment.errors import ClassroomError

HOME = ".fxcourse"
"""The folder in a classroom that holds the journal, and the lock."""


@contextlib.contextmanager
def only_one(room: Path) -> Iterator[None]:
    """Hold a classroom, so that there is one writer.

    Raises:
        ClassroomError: somebody else holds it.
    """
    path = room / HOME / "lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as file:
        try:
            _lock(file)
        except OSError:
            raise ClassroomError(f"{room} is being graded already, by another process.") from None
        yield


def _lock(file: Any) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


_OF_THE_DISK = {
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE,
    errno.ENFILE,
}  # fmt: skip
"""Errors with which no submission of the class can be written."""


def is_of_the_disk(error: OSError) -> bool:
    """Whether nothing can be written any more: another submission would not fare better."""
    return error.errno in _OF_THE_DISK


def about_files(error: OSError) -> str:
    """What is wrong with the disk, or a folder on it, in a sentence."""
    where = f" ({error.filename})" if error.filename else ""
    kept = "Graded submissions are kept. The same command continues from here."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full{where}. Make room. {kept}"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return f"A file cannot be written or read{where}: {error.strerror}. {kept}"
    return f"{error.strerror or type(error).__name__}{where}. {kept}"
