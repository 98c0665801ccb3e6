"""Limits of the resources that a notebook may use, and those that the kernel enforces."""

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
    """The resources that one notebook may use.

    Attributes:
        memory: bytes, beyond those of the process that it is forked from.
        disk: bytes of files.
        processes: processes and threads at the same time.
        files: open files of a process.
        cpu: processor seconds of all its processes together.
        wall: seconds from its first cell to its end.
        cores: processors at the same time, if there is a control group.
    """

    memory: int = 2048 * MIB
    disk: int = 128 * MIB
    processes: int = 96
    files: int = 256
    cpu: float = 900.0
    wall: float = 1800.0
    cores: float = 2.0


SPARE = 24
"""Processes that a sandbox may have in addition to those of its code; see `room_for_more`."""


_OWN = 2  # this process and its supervisor: then the sandbox has a user of its own
_MOST_STARTED = 2000
"""Processes that a sandbox can start before its supervisor ends it, if the kernel cannot count
them apart from the user's other processes."""


def apply_limits(bounds: Bounds, *, shared: bool = False) -> None:
    """Set the kernel's limits of this process and its children.

    Args:
        bounds: the limits.
        shared: whether the kernel counts processes together with others of the same user.
    """
    import resource  # not on Windows

    def hold(limit: int, value: int, spare: int = 0) -> None:
        _, hard = resource.getrlimit(limit)
        most = value + spare if hard == resource.RLIM_INFINITY else min(value + spare, hard)
        resource.setrlimit(limit, (min(value, most), most))

    hold(resource.RLIMIT_CORE, 1)  # not 0, with which a core dump could still go to a program
    hold(resource.RLIMIT_CPU, int(bounds.cpu) + 5)
    hold(resource.RLIMIT_FSIZE, bounds.disk)
    hold(resource.RLIMIT_NOFILE, bounds.files)
    others = _processes_of_user() if shared else 0
    if others > _OWN:
        hold(resource.RLIMIT_NPROC, others + _MOST_STARTED)
    elif shared:
        hold(resource.RLIMIT_NPROC, bounds.processes, SPARE)
    elif _counts_by_namespace():
        hold(resource.RLIMIT_NPROC, bounds.processes, SPARE)
    hold(resource.RLIMIT_MEMLOCK, 0)
    hold(resource.RLIMIT_MSGQUEUE, 0)
    hold(resource.RLIMIT_SIGPENDING, 4096)
    hold(resource.RLIMIT_NICE, 0)  # a lowered priority cannot be raised again
    hold(resource.RLIMIT_RTPRIO, 0)
    limit_memory(bounds.memory)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing too much raises an `OSError`


@contextlib.contextmanager
def room_for_more() -> Iterator[None]:
    """Allow this process to start others, even if a cell has started all that cells may start."""
    import resource

    usual, most = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (usual, most))


def _processes_of_user() -> int:
    """Processes and threads of this user on the machine."""
    found, user = 0, os.getuid()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == user:
                found += len(os.listdir(f"/proc/{name}/task"))
    return found


def _counts_by_namespace() -> bool:
    """Whether the kernel counts a sandbox's processes apart from others of the same user.

    Before Linux 5.14, it would count all processes of the instructor. Process 1 of the sandbox
    checks the number on every kernel.
    """
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return found is not None and (int(found[1]), int(found[2])) >= (5, 14)


def hold_processor_time(more: float) -> None:
    """Permanently limit the processor time of this process to this many more seconds.

    The time that the kernel works for it counts, too. The kernel checks about once a second, and
    children inherit the limit, each for itself.
    """
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime + more)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def limit_memory(more: int) -> None:
    """Limit this process to this many bytes of memory in addition to its present memory."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (_data_now() + more,) * 2)


def _data_now() -> int:
    """Bytes of this process's private writable memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0
