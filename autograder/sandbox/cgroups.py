"""A control group for each box, where the kernel lets this user make one (cgroup v2).

It counts all that a box takes, the kernel's own memory for it included, and ends all of it at
once. Where there is none, or not every controller, what `resource_limits`, `seccomp` and
`init_process` hold stays; it holds beside a group too.
"""

from __future__ import annotations

import contextlib
import os
import time
from functools import cache
from pathlib import Path

from autograder.sandbox.resource_limits import SPARE, Bounds

_PERIOD = 100_000  # microseconds; the kernel's own
_OURS = 8  # processes: the keeper, and who starts it
_CONTROLLERS = ("memory", "pids", "cpu")
_NAME = "fxcourse-box-"
_GRADER = "fxcourse-grader"


class Cgroup:
    """The group of one box; `for_box` makes it.

    Args:
        home: the group below which it lies, in the file system of control groups.
        name: its own name there.
    """

    def __init__(self, home: Path, name: str) -> None:
        # What is open serves where the folder itself cannot be seen any more, as in the box.
        self._name = name
        self._home = os.open(home, os.O_PATH | os.O_DIRECTORY)
        self._folder = os.open(name, os.O_PATH | os.O_DIRECTORY, dir_fd=self._home)

    @classmethod
    def for_box(cls, bounds: Bounds, home: Path | None = None) -> Cgroup | None:
        """A new group that holds what runs in it to these bounds; ``None`` where none can be made.

        Args:
            bounds: what a box may take.
            home: the group below which it is made; without it, one that this user may use.
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
            "pids.max": bounds.processes + SPARE + _OURS,
            "cpu.max": f"{int(bounds.cores * _PERIOD)} {_PERIOD}",
        }.items():
            made._tell(name, value)
        return made

    def add(self, process: int) -> None:
        """Move a process here, 0 for this one; what it starts from now on is here too."""
        self._tell("cgroup.procs", process)

    def spent(self) -> float | None:
        """Processor seconds that all processes here have taken; ``None`` where nobody counts."""
        microseconds = self._field("cpu.stat", "usage_usec")
        return None if microseconds is None else microseconds / 1e6

    def ran_out(self) -> bool:
        """Whether the kernel has ended a process here for want of memory."""
        return bool(self._field("memory.events", "oom_kill"))

    def let_go(self) -> None:
        """Close what this process has open of the group."""
        os.close(self._folder)
        os.close(self._home)

    def kill(self) -> None:
        """End everything here at once."""
        self._tell("cgroup.kill", 1)

    def remove(self) -> None:
        """Take the group away, once it is empty; what stays is taken away by the next box."""
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
    """The group below which this user may make groups with controllers, or at least groups."""
    return find_home(Path("/proc/self/mountinfo"), Path("/proc/self/cgroup"))


def find_home(mounts: Path, groups: Path) -> Path | None:
    """Where groups can be made.

    Args:
        mounts: what is mounted where, as in /proc/self/mountinfo.
        groups: the groups of this process, as in /proc/self/cgroup.
    """
    found = _own_group(mounts, groups)
    if found is None:
        return None
    home = found.parent if found.name == _GRADER else found
    if not os.access(home, os.W_OK) or not os.access(home / "cgroup.procs", os.W_OK):
        return None
    if _words(home / "cgroup.controllers"):
        _make_room(home)
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


def _make_room(home: Path) -> None:
    """Let groups below have controllers: the kernel wants no processes beside them for that.

    Only a group that is left to us is changed, and only if it holds nothing but this program and
    what started it. ``systemd-run --user --scope -p Delegate=yes`` makes such a group.
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
    """Whether systemd leaves a group to us, or there is none above it, as in a container."""
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(home, name) == b"1":
                return True
    return os.path.ismount(home)


def _is_one_family(processes: list[int]) -> bool:
    """Whether all these processes were started by the first that started this one, or are it."""
    ancestors = [process for process in _line_of(os.getpid()) if process in processes]
    return all(ancestors[-1:] and ancestors[-1] in _line_of(process) for process in processes)


def _line_of(process: int) -> list[int]:
    """A process, its parent, the parent of that, and so on."""
    found = []
    with contextlib.suppress(OSError, IndexError):
        while process > 0:
            found.append(process)
            stat = Path(f"/proc/{process}/stat").read_text()
            process = int(stat.rpartition(")")[2].split()[1])
    return found


def _sweep(home: Path) -> None:
    """Take away groups whose makers are gone."""
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
