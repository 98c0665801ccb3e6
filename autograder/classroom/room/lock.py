"""Locks a classroom for one writing process, and explains errors of the disk."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from autograder.environment.errors import ClassroomError
from autograder.environment.file_lock import lock

HOME = ".fxcourse"
"""The folder in a classroom that contains the journal and the lock."""


@contextlib.contextmanager
def only_one(room: Path) -> Iterator[None]:
    """Lock a classroom.

    Raises:
        ClassroomError: another process has locked it.
    """
    path = room / HOME / "lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as file:
        try:
            lock(file)
        except OSError:
            raise ClassroomError(f"{room} is being graded already, by another process.") from None
        yield


_DISK_ERRORS = {
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE,
    errno.ENFILE,
}  # fmt: skip
"""Numbers of errors that prevent writing any submission of the class."""


def is_of_the_disk(error: OSError) -> bool:
    """Whether an error means that nothing more can be written, whatever the submission."""
    return error.errno in _DISK_ERRORS


def about_files(error: OSError) -> str:
    """Describe a problem of the disk, or of a folder on it, in a sentence."""
    where = f" ({error.filename})" if error.filename else ""
    kept = "Graded submissions are kept. The same command continues from here."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full{where}. Make room. {kept}"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return f"A file cannot be written or read{where}: {error.strerror}. {kept}"
    return f"{error.strerror or type(error).__name__}{where}. {kept}"
