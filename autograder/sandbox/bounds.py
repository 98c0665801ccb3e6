"""How much a notebook may take of the machine, and the limits that the kernel itself holds."""

from __future__ import annotations

import signal
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
    """

    memory: int = 2048 * MIB
    disk: int = 128 * MIB
    processes: int = 96
    files: int = 256
    cpu: float = 900.0
    wall: float = 1800.0


def take_on(bounds: Bounds) -> None:
    """Set what the kernel holds this process to, and those that it starts."""
    import resource  # not on Windows

    def hold(limit: int, value: int) -> None:
        _, hard = resource.getrlimit(limit)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))

    hold(resource.RLIMIT_CORE, 0)
    hold(resource.RLIMIT_CPU, int(bounds.cpu) + 5)
    hold(resource.RLIMIT_FSIZE, bounds.disk)
    hold(resource.RLIMIT_NOFILE, bounds.files)
    hold(resource.RLIMIT_NPROC, bounds.processes)
    hold(resource.RLIMIT_MEMLOCK, 0)
    hold(resource.RLIMIT_MSGQUEUE, 0)
    hold_memory(bounds.memory)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing too much is an error like others


def hold_memory(more: int) -> None:
    """Let this process have so many bytes of memory more than it has now."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (_data_now() + more,) * 2)


def _data_now() -> int:
    """Bytes of writable memory of its own that this process has now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0
