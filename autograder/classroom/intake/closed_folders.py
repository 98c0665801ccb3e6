"""Closes the folders of submissions to other users of the machine.

``nbgrader collect`` copies the mode that a folder has in the exchange, where everybody can write.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

_FOLDER = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)
_OTHERS = 0o077


def close_folders(submitted: Path) -> None:
    """Take away other users' access to the folders of students and chapters.

    Only folders of the current user are changed, and no link is followed. This does nothing on
    Windows, which has no such modes.

    Args:
        submitted: the folder with one folder for each student.
    """
    if os.name == "nt":
        return
    for path in (*submitted.glob("*"), *submitted.glob("*/*")):
        with contextlib.suppress(OSError):  # it is a file, a link, or gone
            folder = os.open(path, _FOLDER)
            try:
                found = os.fstat(folder)
                if found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) & _OTHERS:
                    os.fchmod(folder, 0o700)
            finally:
                os.close(folder)
