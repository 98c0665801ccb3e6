"""Isolates a process: own namespaces, and a file system with only the files that Python needs.

It works for any user if the kernel allows user namespaces, and for root without them. The forked
process calls `leave` and forks again. The child calls `enter`; it is process 1 of the new process
namespace. `landlock` has the same functions, for machines where namespaces are forbidden.
"""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.environment.package_folder import PACKAGE_FOLDER
from autograder.sandbox import syscalls
from autograder.sandbox.processes import WholeNamespace

HOME = "/scratch/student"
COMPILED = "/tmp/compiled"
"""PyTorch's folder for compiled code. PyTorch may need it at any time, so it exists from the
start, before a cell can use up the disk."""

ENVIRONMENT = {"HOME": HOME, "TMPDIR": "/tmp", "TORCHINDUCTOR_CACHE_DIR": COMPILED}
"""The environment variables of all sandboxes."""

IMPORTS: tuple[str, ...] = ()
"""Imported before a sandbox is made."""

SHARED = False
"""Whether a sandbox shares the machine's processes, network and files with others."""

COURSE = str(PACKAGE_FOLDER)
"""The course's package, which must not be readable in the sandbox."""

_NOBODY = 65534
_INSIDE = 1000
_FREE = ((2_000_000_000, 1 << 22), (61_184, 4_336))
"""Ranges of unused user numbers, first number and count. The first has one for each possible
process; the second, for containers with few users, is reserved by systemd for services."""
_SYSTEM = (
    "/bin", "/lib", "/lib32", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64",
    "/usr/local/lib", "/usr/share/fonts", "/usr/share/zoneinfo", "/etc/alternatives",
    "/etc/fonts", "/etc/ld.so.cache", "/etc/localtime",
)  # fmt: skip
_DEVICES = {name: name for name in ("null", "full", "random", "urandom")} | {"zero": "full"}
"""Devices by their names in the sandbox: "full" reads like "zero", but cannot be mapped. A mapping
of "zero" would be shared memory that nothing counts."""


@dataclass(frozen=True)
class Plan:
    """The files that are visible in a sandbox.

    Attributes:
        root: an empty folder on which the new root is mounted.
        shown: visible folders and files, read-only.
        covered: folders among them that look empty.
        disk: bytes that can be written, in all.
    """

    root: str
    shown: tuple[str, ...]
    covered: tuple[str, ...]
    disk: int


def plan(root: str, covered: tuple[str, ...], disk: int) -> Plan:
    """The plan with the files that this Python needs, and no others.

    Args:
        root: an empty folder.
        covered: folders that must look empty, wherever they are.
        disk: bytes that can be written.
    """
    # A mount on a link would cover the link's target, so the real path is used.
    inside = [path for path in map(os.path.realpath, covered) if is_shown(path)]
    return Plan(root, _shown(), tuple(inside), disk)


def is_shown(path: str) -> bool:
    """Whether a path is visible in the sandbox, if it is not covered."""
    real = os.path.realpath(path)
    return any(_is_below(real, home) for home in _shown())


@cache
def _shown() -> tuple[str, ...]:
    homes = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()}
    homes |= linked_packages(sysconfig.get_paths()["purelib"])
    ways = [place for home in homes for place in way_to(home)]
    python = [place for place in ways if not place.startswith("/usr") or "/local" in place]
    return _outermost([*filter(os.path.exists, (*_SYSTEM, *python))])


def way_to(path: str) -> list[str]:
    """A path, and every link between it and its real path, with the target of each."""
    path = os.path.abspath(path)
    found = [path]
    while link := next(filter(os.path.islink, _beginnings(path)), None):
        target = os.path.join(os.path.dirname(link), os.readlink(link))
        path = os.path.normpath(target + path[len(link) :])
        if path in found:  # a cycle of links
            break
        found += [link, path]
    return found


def _beginnings(path: str) -> list[str]:
    """The parent folders of a path, outermost first, and the path itself."""
    steps = path.strip("/").split("/")
    return ["/" + "/".join(steps[:n]) for n in range(1, len(steps) + 1)]


def linked_packages(folder: str) -> set[str]:
    """The real folders of packages whose files are links, as uv and conda link to a store."""
    found = set()
    for entry in os.scandir(folder) if os.path.isdir(folder) else ():
        file = entry.name if entry.is_symlink() else f"{entry.name}/__init__.py"
        if os.path.islink(f"{folder}/{file}"):
            real = os.path.realpath(f"{folder}/{file}")
            home = real.removesuffix(file)
            found.add(home if real.endswith(f"/{file}") else real)
    return found


def _outermost(paths: list[str]) -> tuple[str, ...]:
    unique = sorted(set(map(os.path.abspath, paths)))
    return tuple(p for p in unique if not any(_is_below(p, q) and p != q for q in unique))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def leave(plan: Plan) -> Plan:
    """Leave the namespaces of the machine; the next child is process 1 of a new one.

    Raises:
        OSError: the kernel does not allow it.
    """
    _unshare_all()
    return plan


def _unshare_all() -> None:
    own = syscalls.NEW_MOUNTS | syscalls.NEW_HOST | syscalls.NEW_IPC
    own |= syscalls.NEW_PROCESSES | syscalls.NEW_NETWORK
    user, group = os.geteuid(), os.getegid()
    if user == 0:  # root enters an otherwise empty user namespace in `enter`
        syscalls.unshare(own)
        return
    syscalls.unshare(own | syscalls.NEW_USER)
    _map_users("/proc/self", (user, user), (group, group))


def _map_users(process: str, user: tuple[int, int], group: tuple[int, int]) -> None:
    """Define the only user and group of a process's new user namespace.

    Args:
        process: its folder in /proc.
        user: its number inside, and outside.
        group: its number inside, and outside.
    """
    Path(process, "setgroups").write_text("deny")
    Path(process, "uid_map").write_text(f"{user[0]} {user[1]} 1")
    Path(process, "gid_map").write_text(f"{group[0]} {group[1]} 1")


def enter(plan: Plan) -> None:
    """Move into the new file system, and drop every privilege.

    Raises:
        OSError: the kernel does not allow it.
    """
    syscalls.mount("none", "/", None, syscalls.RECURSIVE | syscalls.PRIVATE)
    outside, itself = int(os.readlink("/proc/self")), os.open("/proc/self", os.O_PATH)
    syscalls.mount(
        "tmpfs", plan.root, "tmpfs", syscalls.NO_SUID | syscalls.NO_DEVICES, "mode=755,size=1m"
    )
    _scratch(plan)  # first, because Python itself may be below /tmp or /home
    for path in plan.shown:
        _show(path, plan.root)
    for path in plan.covered:
        _cover(plan.root + path)
    for name, device in _DEVICES.items():
        _show(f"/dev/{device}", plan.root, as_=f"/dev/{name}", read_only=False)
    _processes(plan.root)
    syscalls.change_root(plan.root)
    syscalls.mount(
        "none", "/", None, syscalls.REMOUNT | syscalls.BIND | syscalls.READ_ONLY | syscalls.NO_SUID
    )
    os.chdir(HOME)
    os.umask(0o022)
    if os.getuid() == 0:
        _become_nobody(free_user(outside), f"/proc/self/fd/{itself}")
    os.close(itself)
    syscalls.set_no_new_privs()
    syscalls.drop_capabilities()
    syscalls.die_with_parent()  # again, because a change of user resets it


def close_in(_plan: Plan) -> None:
    """Do nothing: children have the same file system."""


def processes(_plan: Plan) -> WholeNamespace:
    """The processes of the sandbox that this process supervises."""
    return WholeNamespace()


def clear(_plan: Plan) -> None:
    """Do nothing: the kernel ended all processes with process 1, and dropped their files."""


def _show(path: str, root: str, *, as_: str = "", read_only: bool = True) -> None:
    target = root + (as_ or path)
    if os.path.islink(path):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(os.readlink(path), target)
        return
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).touch()
    syscalls.mount(path, target, None, syscalls.BIND | syscalls.RECURSIVE)
    if read_only:
        syscalls.make_read_only(target)


def _cover(target: str) -> None:
    flags = syscalls.READ_ONLY | syscalls.NO_SUID | syscalls.NO_DEVICES
    syscalls.mount("tmpfs", target, "tmpfs", flags, "mode=755,size=4k")


def _scratch(plan: Plan) -> None:
    """Mount one file system for all writable folders, so that one limit holds for all."""
    store = plan.root + "/scratch"
    os.mkdir(store)
    flags = syscalls.NO_SUID | syscalls.NO_DEVICES
    syscalls.mount("tmpfs", store, "tmpfs", flags, f"mode=755,size={plan.disk},nr_inodes=8192")
    for name, seen in (("student", HOME), ("tmp", "/tmp"), ("shm", "/dev/shm")):
        folder = f"{store}/{name}"
        os.mkdir(folder, 0o777)
        os.chmod(folder, 0o777)
        if seen != HOME:
            os.makedirs(plan.root + seen, exist_ok=True)
            syscalls.mount(folder, plan.root + seen, None, syscalls.BIND)
    os.mkdir(store + COMPILED)
    os.chmod(store + COMPILED, 0o777)


def _processes(root: str) -> None:
    os.mkdir(root + "/proc")
    flags = syscalls.READ_ONLY | syscalls.NO_SUID | syscalls.NO_DEVICES | syscalls.NO_EXEC
    syscalls.mount("proc", root + "/proc", "proc", flags)


def _become_nobody(user: int, process: str) -> None:
    """Become a user that no other sandbox has, in a new user namespace if the kernel allows it.

    The kernel counts processes, watches and data in pipes for each user. Sandboxes with the same
    user could use up each other's share.

    Args:
        user: the user's number outside, and the group's.
        process: this process's folder in a writable /proc.
    """
    syscalls.become(user, user)
    syscalls.be_open()
    with contextlib.suppress(OSError):  # even without a namespace, no other sandbox has the user
        syscalls.unshare(syscalls.NEW_USER)
        _map_users(process, (_INSIDE, user), (_INSIDE, user))


def free_user(process: int) -> int:
    """A user number that neither a user nor another running sandbox has.

    Args:
        process: the number of this process outside.
    """
    for first, count in _FREE:
        if all(_covers(f"/proc/self/{kind}_map", first, count) for kind in ("uid", "gid")):
            return first + process % count
    return _NOBODY


def _covers(file: str, first: int, count: int) -> bool:
    """Whether users of these numbers exist in this user namespace."""
    spans = [tuple(map(int, line.split())) for line in Path(file).read_text().splitlines()]
    return any(begin <= first and first + count <= begin + size for begin, _, size in spans)
