"""The walls: a process's own namespaces, and a file system with only what Python needs in it.

Works for any user where the kernel allows user namespaces, and for root without them. The
forked process calls `separate`, forks once more, and calls `enclose` in the child, which is
process 1 of the new process namespace.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import autograder
from autograder.sandbox import linux

HOME = "/scratch/student"
COMPILED = "/tmp/compiled"
"""Where PyTorch keeps what it compiles. It wants this folder when nobody expects it, so it is
there from the beginning, before a cell can use up the disk."""

COURSE = str(Path(autograder.__file__).parent)
"""The course's own package, which is not to be read inside the walls."""

_NOBODY = 65534
_SYSTEM = (
    "/bin", "/lib", "/lib32", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64",
    "/usr/local/lib", "/usr/share/fonts", "/usr/share/zoneinfo", "/etc/alternatives",
    "/etc/fonts", "/etc/ld.so.cache", "/etc/localtime",
)  # fmt: skip
_DEVICES = ("null", "zero", "full", "random", "urandom")


@dataclass(frozen=True)
class Plan:
    """What is to be seen inside the walls.

    Attributes:
        root: an empty folder on which the new root is mounted.
        shown: folders and files that are there, read-only.
        covered: folders among them that look empty.
        disk: bytes that can be written, in all.
    """

    root: str
    shown: tuple[str, ...]
    covered: tuple[str, ...]
    disk: int


def plan(root: str, covered: tuple[str, ...], disk: int) -> Plan:
    """What this Python needs to see, and no more.

    Args:
        root: an empty folder.
        covered: folders that must look empty, wherever they are.
        disk: bytes that can be written.
    """
    inside = [path for path in covered if is_shown(path)]
    return Plan(root, _shown(), tuple(inside), disk)


def is_shown(path: str) -> bool:
    """Whether a path can be seen inside the walls, if it is not covered."""
    return any(_is_below(path, home) for home in _shown())


@cache
def _shown() -> tuple[str, ...]:
    homes = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()}
    python = [home for home in homes if not home.startswith("/usr") or "/local" in home]
    return _outermost([*filter(os.path.exists, (*_SYSTEM, *python))])


def _outermost(paths: list[str]) -> tuple[str, ...]:
    unique = sorted(set(map(os.path.abspath, paths)))
    return tuple(p for p in unique if not any(_is_below(p, q) and p != q for q in unique))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def separate() -> None:
    """Leave the namespaces of the machine. The next child is process 1 of a namespace of its own.

    Raises:
        OSError: the kernel does not allow it.
    """
    own = linux.NEW_MOUNTS | linux.NEW_HOST | linux.NEW_IPC
    own |= linux.NEW_PROCESSES | linux.NEW_NETWORK
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        linux.unshare(own)
        return
    linux.unshare(own | linux.NEW_USER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def enclose(plan: Plan) -> None:
    """Move into the new file system, and give up every privilege.

    Raises:
        OSError: the kernel does not allow it.
    """
    linux.mount("none", "/", None, linux.RECURSIVE | linux.PRIVATE)
    linux.mount("tmpfs", plan.root, "tmpfs", linux.NO_SUID | linux.NO_DEVICES, "mode=755,size=1m")
    _scratch(plan)  # first: Python itself may lie below /tmp or /home
    for path in plan.shown:
        _show(path, plan.root)
    for path in plan.covered:
        _cover(plan.root + path)
    for name in _DEVICES:
        _show(f"/dev/{name}", plan.root, read_only=False)
    _processes(plan.root)
    linux.change_root(plan.root)
    linux.mount("none", "/", None, linux.REMOUNT | linux.BIND | linux.READ_ONLY | linux.NO_SUID)
    os.chdir(HOME)
    os.umask(0o022)
    _give_up_privileges()


def _show(path: str, root: str, *, read_only: bool = True) -> None:
    target = root + path
    if os.path.islink(path):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(os.readlink(path), target)
        return
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).touch()
    linux.mount(path, target, None, linux.BIND | linux.RECURSIVE)
    if read_only:
        linux.make_read_only(target)


def _cover(target: str) -> None:
    flags = linux.READ_ONLY | linux.NO_SUID | linux.NO_DEVICES
    linux.mount("tmpfs", target, "tmpfs", flags, "mode=755,size=4k")


def _scratch(plan: Plan) -> None:
    """One file system for all that can be written, so that there is one limit."""
    store = plan.root + "/scratch"
    os.mkdir(store)
    flags = linux.NO_SUID | linux.NO_DEVICES
    linux.mount("tmpfs", store, "tmpfs", flags, f"mode=755,size={plan.disk},nr_inodes=8192")
    for name, seen in (("student", HOME), ("tmp", "/tmp"), ("shm", "/dev/shm")):
        folder = f"{store}/{name}"
        os.mkdir(folder, 0o777)
        os.chmod(folder, 0o777)
        if seen != HOME:
            os.makedirs(plan.root + seen, exist_ok=True)
            linux.mount(folder, plan.root + seen, None, linux.BIND)
    os.mkdir(store + COMPILED)
    os.chmod(store + COMPILED, 0o777)


def _processes(root: str) -> None:
    os.mkdir(root + "/proc")
    flags = linux.READ_ONLY | linux.NO_SUID | linux.NO_DEVICES | linux.NO_EXEC
    linux.mount("proc", root + "/proc", "proc", flags)


def _give_up_privileges() -> None:
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    linux.gain_nothing()
    linux.drop_capabilities()
