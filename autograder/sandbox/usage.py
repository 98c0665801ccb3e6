"""What the processes of a box take, as the keeper sees it in /proc: processor time and memory.

The kernel tells a parent what its children have taken, unless the parent says that it does not
want to know; and what waits in sockets, or is needed for page tables, is in nobody's resident
memory. So the keeper counts for itself.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass

_TICKS = os.sysconf("SC_CLK_TCK")

_MOST = 1 << 16
"""Bytes of a file of /proc that are read at a time; most are whole then."""

_MAP = 256  # bytes, about
_LOCKS = 1 << 19  # bytes of text: some ten thousand locks
_LOOK_AT_LOCKS = 1.0
"""Seconds between two looks: whoever reads them stops all locking of files on the machine."""

Key = tuple[int, str]
"""A process: its number, and when it began, since numbers come again."""


@dataclass(frozen=True)
class Times:
    """Processor seconds that a process has taken, and those that its children have told it."""

    own: float
    children: float


@dataclass(frozen=True)
class Look:
    """What a process shows of itself at one moment.

    Attributes:
        times: what it has taken.
        state: a letter, such as ``R`` where its first thread runs or wants to.
        threads: how many it has.
    """

    times: Times
    state: str
    threads: int


class ProcessorTime:
    """Processor seconds that all processes of a box have taken, those that are gone included.

    Those that are there are read exactly. A process that ends between two looks leaves its time
    with its parent, or, if the parent wants it so, nowhere: for those that came and went, half of
    the time between two looks is taken where parents were told less. So forking short-lived
    children saves nothing.

    Args:
        free: so many may come and go without that.
    """

    def __init__(self, free: int) -> None:
        self.total = 0.0
        self._free = free
        self._before: dict[Key, Times] = {}
        self._cores = os.cpu_count() or 1

    def look(self, now: dict[Key, Times], buried: float, started: int, passed: float) -> int:
        """Take account of what there is now.

        Args:
            now: the processes that are there.
            buried: seconds of processes that process 1 has buried since the last look.
            started: processes and threads that were started since then.
            passed: seconds since then.

        Returns:
            How many came or went.
        """
        nothing = Times(0.0, 0.0)
        before = {key: self._before.get(key, nothing) for key in now}
        grown = sum(max(0.0, times.own - before[key].own) for key, times in now.items())
        told = sum(times.children - before[key].children for key, times in now.items()) + buried
        gone = [times for key, times in self._before.items() if key not in now]
        known = sum(times.own + times.children for times in gone)
        fresh = len(now.keys() - self._before.keys())
        ended = len(gone) + max(0, started - fresh)
        charged = max(0, ended - self._free) * passed / 2
        self._free = max(0, self._free - ended)
        unseen = min(max(0.0, told - known, charged), self._cores * passed)
        self.total += grown + unseen
        self._before = now
        return ended + fresh


class Waiting:
    """Seconds for which a process of a box has wanted a processor and got none.

    An answer is tried in a process of its own, while the first one sleeps: so of all processes,
    the one that waited longest between two looks counts.
    """

    def __init__(self) -> None:
        self.total = 0.0
        self._before: dict[int, float] = {}

    def look(self, now: dict[int, float]) -> None:
        """Take account of the processes that are there, and how many seconds each has waited."""
        grown = [seconds - self._before.get(process, 0.0) for process, seconds in now.items()]
        self.total += max([0.0, *grown])
        self._before = now


def look_at(processes: Iterable[int]) -> dict[Key, Look]:
    """What processes show; without those that have ended meanwhile."""
    found = {}
    for process in processes:
        with contextlib.suppress(OSError, IndexError):
            fields = _fields(f"/proc/{process}/stat")
            own, children = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
            times = Times(own / _TICKS, children / _TICKS)
            found[process, fields[19]] = Look(times, fields[0], int(fields[17]))
    return found


def tasks_of(process: int) -> list[tuple[int, str]]:
    """A process's threads, each with its state."""
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{process}/task"):
            found.append((int(name), _fields(f"/proc/{process}/task/{name}/stat")[0]))
    return found


def queued(process: int) -> float:
    """Seconds that a process has wanted a processor and got none."""
    try:
        return int(_text(f"/proc/{process}/schedstat").split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def _fields(stat: str) -> list[str]:
    """What stands in such a file behind the process's name, which may be anything."""
    return _text(stat).rpartition(")")[2].split()


def _text(path: str) -> str:
    """The text of a file, read at once: `open` and `Path` take longer than the kernel does."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, _MOST).decode(errors="replace")
    finally:
        os.close(file)


class Started:
    """Counts the processes and threads that are started in this process's namespace."""

    def __init__(self) -> None:
        self._last = self._latest()

    def since(self) -> int:
        """How many since it was asked last."""
        last, self._last = self._last, self._latest()
        # Numbers begin again at the bottom when they have reached the top.
        return self._last - last if self._last >= last else self._last

    def _latest(self) -> int:
        return int(_text("/proc/loadavg").split()[4])


class Memory:
    """What the processes of a box take together, above what its first one began with."""

    def __init__(self, first: int) -> None:
        self._resident, self._tables = _resident(first)
        self._sockets = _sockets()
        self._socket = _room_of_a_socket()
        self._maps = Maps(_maps(first))
        self._locks_at = 0.0

    def exceeds(self, processes: list[int], most: int) -> bool:
        """Whether it is more than so many bytes."""
        if self._holds_too_many_locks():
            return True
        found = [_resident(process) for process in processes]
        tables = sum(tables for _, tables in found) - self._tables
        sockets = (_sockets() - self._sockets) * self._socket
        kernel = max(0, tables) + max(0, sockets) + self._maps.size(processes)
        # Pages that forked processes share count for each of them here; only where that is too
        # much is it worth the time to ask how they are shared.
        above = sum(max(0, resident - self._resident) for resident, _ in found)
        if above + kernel <= most:
            return False
        return self._own(processes) + kernel > most

    def _holds_too_many_locks(self) -> bool:
        now = time.monotonic()
        if now < self._locks_at:
            return False
        self._locks_at = now + _LOOK_AT_LOCKS
        return _too_many_locks()

    @staticmethod
    def _own(processes: list[int]) -> int:
        """Bytes that are not shared with the fork server and its other boxes.

        How much of a process's share is what it began with, this process shows: it was forked
        like them, and has not grown since.
        """
        began = _share("self")
        return sum(max(0, _share(process) - began) for process in processes)


class Maps:
    """Bytes that the kernel needs for the maps of a box's processes.

    Counting takes long where there are many, so it is done for one process at each look. A few
    processes alone cannot have enough of them.

    Args:
        usual: how many maps a process begins with.
    """

    FEW = 8

    def __init__(self, usual: int) -> None:
        self._usual = usual
        self._found: dict[int, int] = {}

    def size(self, processes: list[int]) -> int:
        """What was found until now, the next process counted."""
        if len(processes) <= self.FEW:
            return 0
        there = set(processes)
        self._found = {one: maps for one, maps in self._found.items() if one in there}
        new = next((one for one in processes if one not in self._found), None)
        following = next(iter(self._found)) if new is None else new  # counted longest ago
        self._found.pop(following, None)
        self._found[following] = max(0, _maps(following) - self._usual)
        return sum(self._found.values()) * _MAP


def _maps(process: int) -> int:
    with contextlib.suppress(OSError), open(f"/proc/{process}/maps", "rb") as file:
        return file.read().count(b"\n")
    return 0


def _too_many_locks() -> bool:
    """Whether processes of this namespace hold more locks on parts of files than anybody needs."""
    with open("/proc/locks", "rb") as file:
        return len(file.read(_LOCKS)) == _LOCKS


def _resident(process: int | str) -> tuple[int, int]:
    """Bytes of a process's resident memory, and of its page tables."""
    resident = tables = 0
    with contextlib.suppress(OSError):
        for line in _text(f"/proc/{process}/status").splitlines():
            if line.startswith("VmRSS:"):
                resident = int(line.split()[1]) * 1024
            elif line.startswith("VmPTE:"):
                tables = int(line.split()[1]) * 1024
    return resident, tables


def _share(process: int | str) -> int:
    """A process's memory; what is shared by several counts in parts."""
    try:
        lines = _text(f"/proc/{process}/smaps_rollup").splitlines()
    except OSError:
        return _resident(process)[0]
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _sockets() -> int:
    """Sockets in this network namespace, those on their way between two processes included."""
    line = _text("/proc/net/sockstat").partition("\n")[0]
    return int(line.split()[2])


def _room_of_a_socket() -> int:
    """Bytes that may wait in a socket before its writer must wait; a last piece comes on top."""
    with socket.socket(socket.AF_UNIX) as one:
        return 2 * one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
