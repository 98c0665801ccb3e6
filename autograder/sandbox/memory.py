"""The memory that this machine, or the container around it, has for grading.

In a container, the limit is that of a control group. If the group needs more, the kernel kills one
of its processes, and nothing that this process prints says why.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from autograder.sandbox.cgroups import own_group
from autograder.sandbox.resource_limits import MIB

PROC, FIRST_VERSION = Path("/proc/self"), Path("/sys/fs/cgroup/memory")
"""The kernel's data about this process, and the mounted groups of cgroup v1."""

_LIMITS = ("memory.max", "memory.limit_in_bytes")
_COUNTS = ("memory.events.local", "memory.oom_control")
"""Files of a group, in the second and in the first version of control groups."""


def limit(proc: Path = PROC, first_version: Path = FIRST_VERSION) -> int | None:
    """The most MiB that this process and its children can have; ``None`` if unknown."""
    found = []
    for group in _groups(proc, first_version):
        for path in (home / name for home in (group, *group.parents) for name in _LIMITS):
            with contextlib.suppress(OSError, ValueError):  # there is none, or it is "max"
                found.append(int(path.read_text()))
    with contextlib.suppress(AttributeError, ValueError, OSError):  # not on Windows
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found) // MIB if found else None


def kills(proc: Path = PROC, first_version: Path = FIRST_VERSION) -> int:
    """The number of processes in this group that the kernel has killed to get memory."""
    found = 0
    for path in (g / name for g in _groups(proc, first_version) for name in _COUNTS):
        with contextlib.suppress(OSError):
            lines = [line.split() for line in path.read_text().splitlines()]
            found += sum(int(count) for name, count in lines if name == "oom_kill")
    return found


def _groups(proc: Path, first_version: Path) -> Iterator[Path]:
    """The groups of this process, of both versions."""
    if group := own_group(proc / "mountinfo", proc / "cgroup"):
        yield group
    with contextlib.suppress(OSError):
        for line in (proc / "cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if "memory" in controllers.split(","):
                group = first_version / path.lstrip("/")
                # In a container, the mounted folder may be the group itself.
                yield group if group.is_dir() else first_version
