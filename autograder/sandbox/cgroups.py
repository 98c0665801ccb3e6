"""A control group for each sandbox, if the kernel lets this user make one (cgroup v2).

It counts everything that a sandbox uses, including kernel memory, and ends all of it at once. The
limits of `resource_limits`, `seccomp` and `init_process` apply in any case, so a machine without
control groups, or without some controllers, still has those.
"""

from __future__ import annotations

import contextlib
import os
import time
from functools import cache
from pathlib import Path

from autograder.sandbox.resource_limits import SPARE, Bounds

_PERIOD = 100_000  # microseconds, the kernel's default
_OWN_PROCESSES = 8  # processes: process 1 of the sandbox, and those that start it
_CONTROLLERS = ("memory", "pids", "cpu")
_NAME = "fxcourse-box-"
_GRADER = "fxcourse-grader"


class Cgroup:
    """The group of one sandbox; `for_box` makes it.

    Args:
        home: the parent group, in the file system of control groups.
        name: its name there.
    """

    def __init__(self, home: Path, name: str) -> None:
        # Open folders still work in the sandbox, where their paths are not visible.
        self._name = name
        self._home = os.open(home, os.O_PATH | os.O_DIRECTORY)
        self._folder = os.open(name, os.O_PATH | os.O_DIRECTORY, dir_fd=self._home)

    @classmethod
    def for_box(cls, bounds: Bounds, home: Path | None = None) -> Cgroup | None:
        """Make a group that enforces these limits; ``None`` if the user may not make one.

        Args:
            bounds: the limits of a sandbox.
            home: the parent group; by default, one that this user may use.
        """
        home = home or home_of_boxes()
        if home is None:
            return None
        _sweep(home)
        own = f"{_NAME}{os.getpid()}"
        try:
            (home / own).mkdir(exist_ok=True)
        except OSError:
            return None
        made = cls(home, own)
        for name, value in {
            "memory.max": bounds.memory,
            "memory.swap.max": 0,
            "pids.max": bounds.processes + SPARE + _OWN_PROCESSES,
            "cpu.max": f"{int(bounds.cores * _PERIOD)} {_PERIOD}",
        }.items():
            made._tell(name, value)
        return made

    def add(self, process: int) -> None:
        """Move a process into the group, 0 for this one; its later children are in it, too."""
        self._tell("cgroup.procs", process)

    def spent(self) -> float | None:
        """Processor seconds of all processes of the group; ``None`` without that controller."""
        microseconds = self._field("cpu.stat", "usage_usec")
        return None if microseconds is None else microseconds / 1e6

    def ran_out(self) -> bool:
        """Whether the kernel has killed a process of the group because it was out of memory."""
        return bool(self._field("memory.events", "oom_kill"))

    def let_go(self) -> None:
        """Close this process's open folders of the group."""
        os.close(self._folder)
        os.close(self._home)

    def kill(self) -> None:
        """End all processes of the group at once."""
        self._tell("cgroup.kill", 1)

    def remove(self) -> None:
        """Remove the group once it is empty; otherwise, a later sandbox removes it."""
        for _ in range(20):
            with contextlib.suppress(OSError):
                os.rmdir(self._name, dir_fd=self._home)
                break
            time.sleep(0.01)
        self.let_go()

    def _tell(self, name: str, value: object) -> None:
        """Write a setting; a group without that controller does not have the file."""
        with contextlib.suppress(OSError):
            number = os.open(name, os.O_WRONLY, dir_fd=self._folder)
            with open(number, "w") as file:
                file.write(str(value))

    def _field(self, file: str, name: str) -> int | None:
        """A number from a file of names and numbers."""
        with contextlib.suppress(OSError):
            with open(os.open(file, os.O_RDONLY, dir_fd=self._folder)) as opened:
                for line in opened:
                    if line.split()[:1] == [name]:
                        return int(line.split()[1])
        return None


@cache
def home_of_boxes() -> Path | None:
    """The group in which this user may make groups, if possible with controllers."""
    return find_home(Path("/proc/self/mountinfo"), Path("/proc/self/cgroup"))


def find_home(mounts: Path, groups: Path) -> Path | None:
    """Find the group in which groups can be made.

    Args:
        mounts: a list of mounts, as in /proc/self/mountinfo.
        groups: the groups of this process, as in /proc/self/cgroup.
    """
    found = _own_group(mounts, groups)
    if found is None:
        return None
    home = found.parent if found.name == _GRADER else found
    if not os.access(home, os.W_OK) or not os.access(home / "cgroup.procs", os.W_OK):
        return None
    if _words(home / "cgroup.controllers"):
        _enable_controllers(home)
    return home


def _own_group(mounts: Path, groups: Path) -> Path | None:
    with contextlib.suppress(OSError):
        own = [line[3:] for line in groups.read_text().splitlines() if line.startswith("0::/")]
        for line in mounts.read_text().splitlines():
            before, _, after = line.partition(" - ")
            root, mounted = before.split()[3:5]
            if own and after.split()[0] == "cgroup2" and _is_below(own[0], root):
                return Path(mounted) / own[0].removeprefix(root).lstrip("/")
    return None


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _enable_controllers(home: Path) -> None:
    """Enable controllers for child groups, for which the kernel requires an empty parent.

    This changes only a group that is delegated to us and contains only this program and the
    processes that started it. ``systemd-run --user --scope -p Delegate=yes`` makes such a group.
    """
    there = [int(word) for word in _words(home / "cgroup.procs")]
    if not _is_delegated(home) or not _is_one_family(there):
        return
    try:
        for process in there:
            (home / _GRADER).mkdir(exist_ok=True)
            (home / _GRADER / "cgroup.procs").write_text(str(process))
    except OSError:
        return
    for name in _CONTROLLERS:
        if name in _words(home / "cgroup.controllers"):
            _tell(home / "cgroup.subtree_control", f"+{name}")


def _is_delegated(home: Path) -> bool:
    """Whether systemd delegates a group to us, or it has no parent, as in a container."""
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(home, name) == b"1":
                return True
    return os.path.ismount(home)


def _is_one_family(processes: list[int]) -> bool:
    """Whether one ancestor of this process, or this process itself, started all these processes."""
    ancestors = [process for process in _ancestry_of(os.getpid()) if process in processes]
    return all(ancestors[-1:] and ancestors[-1] in _ancestry_of(process) for process in processes)


def _ancestry_of(process: int) -> list[int]:
    """A process, its parent, the parent of that, and so on."""
    found = []
    with contextlib.suppress(OSError, IndexError):
        while process > 0:
            found.append(process)
            stat = Path(f"/proc/{process}/stat").read_text()
            process = int(stat.rpartition(")")[2].split()[1])
    return found


def _sweep(home: Path) -> None:
    """Remove groups whose makers no longer run."""
    for left in home.glob(f"{_NAME}*"):
        if not Path(f"/proc/{left.name.removeprefix(_NAME)}").exists():
            with contextlib.suppress(OSError):  # something still runs there
                left.rmdir()


def _tell(file: Path, value: object) -> None:
    """Write a setting; a group without that controller does not have the file."""
    with contextlib.suppress(OSError):
        file.write_text(str(value))


def _words(file: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return file.read_text().split()
    return []
