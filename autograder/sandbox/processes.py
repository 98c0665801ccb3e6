"""The processes of a sandbox, and their use of what the kernel counts for a whole machine.

With namespaces, all that /proc shows belongs to the sandbox. Without them, the processes are the
descendants of the supervisor, and what each of them uses is counted.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import Protocol

from autograder.sandbox.usage import text

_LOCKS = 10_000
_BYTES_OF_A_LOCK = 52  # of text, about
_SLOW_INTERVAL = 1.0
"""Seconds between two slow reads. One of all locks blocks all file locking on the machine."""
_FILES = 8192
"""Files that a sandbox may have."""
_LONGEST_PATH = 4000
"""Characters; files with longer paths could not be counted."""


class Processes(Protocol):
    """The processes of one sandbox, as seen by its supervisor."""

    def found(self) -> list[int]:
        """The numbers of the living ones."""

    def started(self) -> int:
        """The number of processes and threads started since the last call, as far as known."""

    def sockets(self, found: list[int]) -> int:
        """The number of their open sockets."""

    def has_too_many_locks(self, found: list[int]) -> bool:
        """Whether they hold far more file locks than any notebook needs."""

    def has_filled_disk(self, found: list[int], most: int) -> bool:
        """Whether they have written more than this many bytes."""


class WholeNamespace:
    """All processes of this process namespace, except process 1."""

    def __init__(self) -> None:
        self._last = self._latest()
        self._locks_at = 0.0

    def found(self) -> list[int]:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]

    def started(self) -> int:
        last, self._last = self._last, self._latest()
        # Process numbers start again from the lowest after the highest.
        return self._last - last if self._last >= last else self._last

    def _latest(self) -> int:
        return int(text("/proc/loadavg").split()[4])

    def sockets(self, _found: list[int]) -> int:
        """All of this network namespace, including those in transit between processes."""
        return int(text("/proc/net/sockstat").partition("\n")[0].split()[2])

    def has_too_many_locks(self, _found: list[int]) -> bool:
        now = time.monotonic()
        if now < self._locks_at:
            return False
        self._locks_at = now + _SLOW_INTERVAL
        most = _LOCKS * _BYTES_OF_A_LOCK
        with open("/proc/locks", "rb") as file:
            return len(file.read(most)) == most

    def has_filled_disk(self, _found: list[int], _most: int) -> bool:
        """Never: the file system has that size."""
        return False


class Descendants:
    """The descendants of a process that adopts orphans.

    Args:
        root: the process, which is not one of them.
        scratch: the folder in which they may write.
    """

    def __init__(self, root: int, scratch: str = "") -> None:
        self._root, self._scratch = root, scratch
        self._locks_at = self._sockets_at = 0.0
        self._sockets = 0
        self._deleted: dict[int, dict[str, int]] = {}

    def found(self) -> list[int]:
        found, left = [], [self._root]
        while left:
            children = _children(left.pop())
            found += children
            left += children
        return found

    def started(self) -> int:
        """Unknown: the kernel counts only those of the whole machine."""
        return 0

    def sockets(self, found: list[int]) -> int:
        """Those that a process has open; the kernel allows few in transit."""
        now = time.monotonic()
        if now >= self._sockets_at:
            self._sockets_at = now + _SLOW_INTERVAL
            links = {link for process in found for link in _links(process)}
            self._sockets = sum(link.startswith("socket:") for link in links)
        return self._sockets

    def has_too_many_locks(self, found: list[int]) -> bool:
        now = time.monotonic()
        if now < self._locks_at:
            return False
        self._locks_at = now + _SLOW_INTERVAL
        ours = {str(process).encode() for process in found}
        with open("/proc/locks", "rb") as file:
            return sum(bool(ours.intersection(line.split()[4:6])) for line in file) > _LOCKS

    def has_filled_disk(self, found: list[int], most: int) -> bool:
        size = _size_below(self._scratch)
        return size is None or size + self._size_of_deleted(found) > most

    def _size_of_deleted(self, found: list[int]) -> int:
        """Bytes of deleted files. The search is slow, so each look searches one process."""
        there = set(found)
        new = (process for process in found if process not in self._deleted)
        longest_ago = (process for process in self._deleted if process in there)
        following = next(new, next(longest_ago, None))
        self._deleted = {one: files for one, files in self._deleted.items() if one in there}
        if following is not None:
            self._deleted.pop(following, None)
            self._deleted[following] = _without_a_name(following)
        return sum({i: n for files in self._deleted.values() for i, n in files.items()}.values())


def _children(process: int) -> list[int]:
    """The children of a process; those that start or end just now may be missing."""
    found: list[int] = []
    for task in _names(f"/proc/{process}/task"):
        with contextlib.suppress(OSError):
            found += map(int, text(f"/proc/{process}/task/{task}/children").split())
    return found


def _links(process: int) -> Iterator[str]:
    """The targets of a process's open files."""
    for name in _names(f"/proc/{process}/fd"):
        with contextlib.suppress(OSError):
            yield os.readlink(f"/proc/{process}/fd/{name}")


def _names(folder: str) -> list[str]:
    with contextlib.suppress(OSError):
        return os.listdir(folder)
    return []


def _size_below(folder: str) -> int | None:
    """Bytes of all files below a folder; ``None`` if there are too many, or they cannot be seen."""
    size = number = 0
    left = [folder]
    while left:
        try:
            for entry in os.scandir(left.pop()):
                with contextlib.suppress(FileNotFoundError):
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                number += 1
                if number > _FILES or len(entry.path) > _LONGEST_PATH:
                    return None
        except FileNotFoundError:
            continue
        except OSError:  # such as a folder that was made unreadable
            return None
    return size


def _without_a_name(process: int) -> dict[str, int]:
    """Bytes of the deleted files that a process has open or mapped, by inode."""
    found: dict[str, int] = {}
    for name in _names(f"/proc/{process}/fd"):
        with contextlib.suppress(OSError):
            status = os.stat(f"/proc/{process}/fd/{name}")
            if status.st_nlink == 0:
                found[str(status.st_ino)] = status.st_blocks * 512
    with contextlib.suppress(OSError), open(f"/proc/{process}/maps") as file:
        for line in file:
            if line.endswith(" (deleted)\n"):
                ends, _, _, _, inode, *_ = line.split()
                begin, end = (int(one, 16) for one in ends.split("-"))
                found[inode] = max(found.get(inode, 0), end - begin)
    return found
