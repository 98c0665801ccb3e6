"""The memory that chapters need, and the memory that this machine gives.

A container, and a server of a JupyterHub, are in a control group with a limit. If the processes of
the group need more, the kernel of the system ends one of them with SIGKILL.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("memory.json")
"""The measurements, in GB: a chapter that runs from its first to its last cell, without answers."""

GB = 10**9

_UNLIMITED = 1 << 60
"""Control groups of version 1 have a limit near 2**63 if nobody has set one."""

_MARGIN = 1.4
"""Memory that a server is given for each GB that was measured: answers and pictures need some."""

_STEP = 0.5
FOR_GRADING = 1.5
"""GB with which grading has worked; with half as much, it has not."""


@cache
def _measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def needed(chapters: Collection[str]) -> float:
    """GB that a server and its kernel were measured to need for the largest of these chapters.

    Args:
        chapters: names such as ``03_manipulation``. A chapter that was not measured counts as much
            as the chapter before it that needs most, because later chapters import more.
    """
    known: dict[str, float] = _measured()["chapters_gb"]
    most = 0.0
    for chapter in chapters:
        number = chapter.partition("_")[0]
        before = [gb for name, gb in known.items() if name <= number] or [max(known.values())]
        most = max(most, known.get(number, max(before)))
    server: float = _measured()["server_gb"]
    return round(most + server, 2)


def server_limit(chapters: Collection[str]) -> float:
    """GB to which a student's server with these chapters can be limited, with a margin."""
    steps = -(-needed(chapters) * _MARGIN // _STEP)
    return float(steps * _STEP)


def limit(
    groups: Path = Path("/proc/self/cgroup"), mounted: Path = Path("/sys/fs/cgroup")
) -> float | None:
    """GB that this process and its neighbors may use together; ``None`` if there is no limit.

    Args:
        groups: the groups of a process, as in /proc/self/cgroup.
        mounted: the file system of control groups.
    """
    found = []
    for folder in _folders(groups, mounted):
        for name in ("memory.max", "memory.limit_in_bytes"):
            with contextlib.suppress(OSError, ValueError):  # it may be the word "max"
                found.append(int((folder / name).read_text()))
    least = min(found, default=_UNLIMITED)
    return round(least / GB, 2) if least < _UNLIMITED else None


def given() -> float | None:
    """GB that this process and its neighbors can have: by `limit`, or all that there is."""
    found = [limit()]
    with contextlib.suppress(AttributeError, ValueError, OSError):  # not on Windows
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        found.append(round(pages / GB, 2))
    return min((gb for gb in found if gb is not None), default=None)


def times_used_up(
    groups: Path = Path("/proc/self/cgroup"),
    mounted: Path = Path("/sys/fs/cgroup"),
    machine: Path = Path("/proc/vmstat"),
) -> int:
    """Count how often the memory was used up, so that the system ended a process.

    A sandbox that reaches its own limit does not count: its group is below that of this process.

    Args:
        groups: the groups of a process, as in /proc/self/cgroup.
        mounted: the file system of control groups.
        machine: counts of the whole machine, which matter if no group has a limit.
    """
    files = [
        (folder / name, word)
        for folder in _folders(groups, mounted)
        for name, word in (("memory.events.local", "oom"), ("memory.oom_control", "oom_kill"))
    ]
    if limit(groups, mounted) is None:
        files = [(machine, "oom_kill")]
    times = 0
    for path, word in files:
        with contextlib.suppress(OSError):
            found = re.search(rf"^{word} (\d+)$", path.read_text(), re.M)
            times += int(found[1]) if found else 0
    return times


def explain(before: int) -> str:
    """The sentence about lack of memory if it has ended a process; else ``""``.

    Args:
        before: the result of `times_used_up` at an earlier time.
    """
    if times_used_up() <= before:
        return ""
    given = limit()
    here = f"{given:g} GB may be used here" if given else "this machine has too little"
    return (
        f"The system has ended a process because memory was used up: {here}, and grading needs "
        f"{FOR_GRADING:g} GB for each notebook at a time. Give it more, or use --jobs 1."
    )


def _folders(groups: Path, mounted: Path) -> list[Path]:
    """The folders of this process's memory group and of its parents; in a container, the mount."""
    found = []
    with contextlib.suppress(OSError):
        for line in groups.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and "memory" not in controllers.split(","):
                continue
            home = mounted / "memory" if controllers else mounted
            for part in (Path(path.lstrip("/")), *Path(path.lstrip("/")).parents):
                found.append(home / part)
    return found
