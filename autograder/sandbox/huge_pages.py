"""Moves a fork server's memory to pages of 2 MiB, if the kernel supports that.

Each fork copies the page table, which has an entry for every 4 KiB. A sandbox takes three forks,
and each answer that is set aside takes another. A large page needs one entry instead of 512. A
process that writes to one gets small pages of its own, as usual.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from autograder.sandbox import syscalls

SIZE = 2 << 20
"""Bytes of a large page."""

PIECE = 4 * SIZE
"""Bytes to move before the caller gets control again."""


def gather() -> Iterator[None]:
    """Move this process's private memory to large pages, a piece at a time.

    A kernel without support rejects the call, and nothing changes.
    """
    for begin, end in _spans(Path("/proc/self/maps").read_text()):
        for at in range(begin, end, PIECE):
            if not syscalls.collapse(at, min(PIECE, end - at)):
                return
            yield


def _spans(maps: str) -> list[tuple[int, int]]:
    """The address ranges of whole large pages in private, writable memory.

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
