"""How much a notebook may take of the machine, and the limits that the kernel itself holds."""

from __future__ import annotations

import contextlib
import math
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True)
class Bounds:
    """How much one notebook may take.

    Attributes:
        memory: bytes, above those of the process that it is forked from.
        disk: bytes of files.
        processes: processes and threads at a time.
        files: open files of a process.
        cpu: processor seconds, of all its processes together.
        wall: seconds from its first cell to its end.
        cores: processors at a time, where control groups can be had.
    """

    memory: int = 2048 * MIB
    disk: int = 128 * MIB
    processes: int = 96
    files: int = 256
    cpu: float = 900.0
    wall: float = 1800.0
    cores: float = 2.0


SPARE = 24
"""Processes that a box may have beyond those that its code may start; see `room_for_more`."""


def apply_limits(bounds: Bounds) -> None:
    """Set what the kernel holds this process to, and those that it starts."""
    import resource  # not on Windows

    def hold(limit: int, value: int, spare: int = 0) -> None:
        _, hard = resource.getrlimit(limit)
        most = value + spare if hard == resource.RLIM_INFINITY else min(value + spare, hard)
        resource.setrlimit(limit, (min(value, most), most))

    hold(resource.RLIMIT_CORE, 1)  # 0 would not keep it from a program that takes dumps
    hold(resource.RLIMIT_CPU, int(bounds.cpu) + 5)
    hold(resource.RLIMIT_FSIZE, bounds.disk)
    hold(resource.RLIMIT_NOFILE, bounds.files)
    if _counts_by_namespace():
        hold(resource.RLIMIT_NPROC, bounds.processes, SPARE)
    hold(resource.RLIMIT_MEMLOCK, 0)
    hold(resource.RLIMIT_MSGQUEUE, 0)
    hold(resource.RLIMIT_SIGPENDING, 4096)
    hold(resource.RLIMIT_NICE, 0)  # no way back from a low priority
    hold(resource.RLIMIT_RTPRIO, 0)
    limit_memory(bounds.memory)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing too much is an error like others


@contextlib.contextmanager
def room_for_more() -> Iterator[None]:
    """Let this process start others although a cell has used up what cells may start."""
    import resource

    usual, most = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (usual, most))


def _counts_by_namespace() -> bool:
    """Whether the kernel counts the processes of a box apart from others of the same user.

    Before Linux 5.14 all that an instructor runs would count. The keeper ends a box with too many
    there, and everywhere.
    """
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return found is not None and (int(found[1]), int(found[2])) >= (5, 14)


def hold_processor_time(more: float) -> None:
    """Have the kernel end this process when it has taken so many seconds more, for good.

    The time that the kernel works for it counts too, and nothing that runs in it can take this
    back. The kernel looks once a second or so; what it starts has the same limit for itself.
    """
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime + more)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def limit_memory(more: int) -> None:
    """Let this process have so many bytes of memory more than it has now."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (_data_now() + more,) * 2)


def _data_now() -> int:
    """Bytes of writable memory of its own that this process has now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0
