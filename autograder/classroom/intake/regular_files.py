"""Reads regular files, up to a size limit, that other users may be changing at the same time."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FILE |= getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)


def read_regular(home: Path, parts: tuple[str, ...], most: int) -> bytes:
    """Read at most `most` bytes of a file.

    Another user may replace the file by a link, a pipe or a folder at any moment. Then this
    function neither follows a link nor blocks.

    Args:
        home: a folder that other users cannot replace.
        parts: the file's path from there.
        most: the number of bytes to read; the rest of the file is left out.

    Raises:
        OSError: there is no regular file, or a folder on the path is a link.
    """
    with _opened(home, parts) as file:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "It is not a regular file", parts[-1])
        with open(file, "rb", closefd=False) as stream:
            return stream.read(most)


@contextmanager
def _opened(home: Path, parts: tuple[str, ...]) -> Iterator[int]:
    if os.open not in os.supports_dir_fd:  # Windows
        file = os.open(home.joinpath(*parts), _FILE)
        try:
            yield file
        finally:
            os.close(file)
        return
    at = os.open(home, os.O_RDONLY)
    try:
        for part in parts[:-1]:
            below = os.open(part, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        file = os.open(parts[-1], _FILE, dir_fd=at)
        os.close(at)
        at = file
        yield file
    finally:
        os.close(at)
