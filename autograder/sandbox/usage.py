"""Measures a sandbox's processor time and memory, which process 1 reads from /proc.

The kernel reports the time of child processes to their parent only if the parent waits for them.
And resident memory includes neither data in sockets nor page tables. So process 1 measures them.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_TICKS = os.sysconf("SC_CLK_TCK")

_READ_SIZE = 1 << 16
"""Bytes of a file in /proc that are read at a time; most files are shorter."""

_MAP = 256  # bytes, about

Key = tuple[int, str]
"""A process: its number and its start time, because the kernel reuses numbers."""


@dataclass(frozen=True)
class Times:
    """Processor seconds of a process, and those of the children that it has waited for."""

    own: float
    children: float


@dataclass(frozen=True)
class Look:
    """The state of a process at one moment.

    Attributes:
        times: its processor time.
        state: a letter, such as ``R`` if its first thread is running or runnable.
        threads: the number of its threads.
    """

    times: Times
    state: str
    threads: int


class ProcessorTime:
    """Processor seconds of all processes of a sandbox, including those that have ended.

    Living processes are read exactly. The time of a process that ends between two reads is added to
    its parent's, or lost if the parent ignores it. For such processes, up to half of the time
    between the reads is charged if their parents report less. So short-lived children hide no time.

    Args:
        free: number of processes that may come and go without this charge.
    """

    def __init__(self, free: int) -> None:
        self.total = 0.0
        self._free = free
        self._before: dict[Key, Times] = {}
        self._cores = os.cpu_count() or 1

    def look(self, now: dict[Key, Times], buried: float, started: int, passed: float) -> int:
        """Add the time since the last read.

        Args:
            now: the living processes.
            buried: seconds of the processes that process 1 has waited for since the last read.
            started: processes and threads that were started since then.
            passed: seconds since then.

        Returns:
            The number of processes that started or ended.
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
    """Seconds for which a process of a sandbox has waited for a processor.

    An answer runs in its own process while the first one sleeps. So between two reads, the process
    that waited longest counts.
    """

    def __init__(self) -> None:
        self.total = 0.0
        self._before: dict[int, float] = {}

    def look(self, now: dict[int, float]) -> None:
        """Add the time since the last read, from the total that each living process has waited."""
        grown = [seconds - self._before.get(process, 0.0) for process, seconds in now.items()]
        self.total += max([0.0, *grown])
        self._before = now


def look_at(processes: Iterable[int]) -> dict[Key, Look]:
    """Read the state of processes; those that have ended are left out."""
    found = {}
    for process in processes:
        with contextlib.suppress(OSError, IndexError):
            fields = _fields(f"/proc/{process}/stat")
            own, children = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
            times = Times(own / _TICKS, children / _TICKS)
            found[process, fields[19]] = Look(times, fields[0], int(fields[17]))
    return found


def tasks_of(process: int) -> list[tuple[int, str]]:
    """The threads of a process, each with its state."""
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{process}/task"):
            found.append((int(name), _fields(f"/proc/{process}/task/{name}/stat")[0]))
    return found


def queued(process: int) -> float:
    """Seconds that a process has waited for a processor."""
    try:
        return int(text(f"/proc/{process}/schedstat").split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def _fields(stat: str) -> list[str]:
    """The fields of a stat file after the process's name, which may contain any character."""
    return text(stat).rpartition(")")[2].split()


def text(path: str) -> str:
    """Read a file with one system call, because `open` and `Path` take longer than the kernel."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, _READ_SIZE).decode(errors="replace")
    finally:
        os.close(file)


class Memory:
    """The memory of all processes of a sandbox, beyond that of its first process at the start.

    Args:
        first: the first process.
        count_sockets: returns the number of sockets of some processes.
    """

    def __init__(self, first: int, count_sockets: Callable[[list[int]], int]) -> None:
        self._resident, self._tables = _resident(first)
        self._count_sockets, self._sockets = count_sockets, count_sockets([first])
        self._socket = _socket_buffer_size()
        self._maps = Maps(_maps(first))

    def exceeds(self, processes: list[int], most: int) -> bool:
        """Whether it is more than this many bytes."""
        found = [_resident(process) for process in processes]
        tables = sum(tables for _, tables in found) - self._tables
        sockets = (self._count_sockets(processes) - self._sockets) * self._socket
        kernel = max(0, tables) + max(0, sockets) + self._maps.size(processes)
        # Each process counts the pages that it shares with others. The exact share is slow to
        # read, so it is only read if this sum is too high.
        above = sum(max(0, resident - self._resident) for resident, _ in found)
        if above + kernel <= most:
            return False
        return self._own(processes) + kernel > most

    @staticmethod
    def _own(processes: list[int]) -> int:
        """Bytes that are not shared with the fork server and its other sandboxes.

        This process was forked like the others, and has not grown since. So its own share is the
        amount with which each of them began.
        """
        began = _share("self")
        return sum(max(0, _share(process) - began) for process in processes)


class Maps:
    """Bytes that the kernel needs for the memory maps of a sandbox's processes.

    Counting many maps is slow, so each read counts those of one process. A few processes alone
    cannot have too many.

    Args:
        usual: number of maps with which a process begins.
    """

    FEW = 8

    def __init__(self, usual: int) -> None:
        self._usual = usual
        self._found: dict[int, int] = {}

    def size(self, processes: list[int]) -> int:
        """Count the maps of the next process; return the bytes of all that are counted."""
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


def _resident(process: int | str) -> tuple[int, int]:
    """Bytes of a process's resident memory, and of its page tables."""
    resident = tables = 0
    with contextlib.suppress(OSError):
        for line in text(f"/proc/{process}/status").splitlines():
            if line.startswith("VmRSS:"):
                resident = int(line.split()[1]) * 1024
            elif line.startswith("VmPTE:"):
                tables = int(line.split()[1]) * 1024
    return resident, tables


def _share(process: int | str) -> int:
    """Bytes of a process's memory, with shared pages divided among their processes."""
    try:
        lines = text(f"/proc/{process}/smaps_rollup").splitlines()
    except OSError:
        return _resident(process)[0]
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _socket_buffer_size() -> int:
    """Bytes that a socket buffers before its writer blocks; the last write may exceed that."""
    with socket.socket(socket.AF_UNIX) as one:
        return 2 * one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
