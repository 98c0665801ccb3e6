"""Has the kernel keep a fork server's memory in pages of 2 MiB, where it can.

Each fork copies the table of pages, with an entry for 4 KiB; a box takes three forks, and each
answer that is set aside another one. With large pages there is one entry in place of 512. A process
that writes to such a page gets small ones of its own, as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from autograder.sandbox import syscalls

SIZE = 2 << 20
"""Bytes of a large page."""

PIECE = 4 * SIZE
"""What is put together before somebody else has a turn."""


def gather() -> Iterator[None]:
    """Put this process's own memory together, a piece at a time.

    A kernel that does not know how refuses, and nothing has changed.
    """
    for begin, end in _spans(Path("/proc/self/maps").read_text()):
        for at in range(begin, end, PIECE):
            if not syscalls.collapse(at, min(PIECE, end - at)):
                return
            yield


def _spans(maps: str) -> list[tuple[int, int]]:
    """Where whole large pages fit into memory that can be written, and is no file's.

    Args:
        maps: the text of a process's file of that name.
    """
    found = []
    for line in maps.splitlines():
        where, access, _, _, file, *_ = line.split()
        first, last = (int(number, 16) for number in where.split("-"))
        begin, end = -(-first // SIZE) * SIZE, last // SIZE * SIZE
        if access == "rw-p" and file == "0" and begin < end:
            found.append((begin, end))
    return found
