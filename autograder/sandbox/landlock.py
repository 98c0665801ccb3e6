"""Isolates a process where namespaces are forbidden, as in most containers: Landlock.

Landlock is the kernel's way to give up access to files, for any user and without a privilege. It
needs version 6 (Linux 6.12), with which a process can also give up signals to others. What it
cannot restrict, `seccomp` refuses: sockets, and changes of a file's mode, owner and times.

A sandboxed process keeps the machine's process numbers, and works in a folder of its own among the
temporary files. If root grades, each sandbox has a user of its own, unless Python lies in a private
folder of root. docs/explanation/sandbox.md says what is weaker than with `namespaces`.

Source: https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from types import FrameType

from autograder.sandbox import namespaces, syscalls, temp_dirs
from autograder.sandbox.namespaces import Plan
from autograder.sandbox.processes import Descendants

OLDEST = 6
"""The first version that can restrict signals."""

SHARED = True
"""Whether a sandbox shares the machine's processes, network and files with others."""

ENVIRONMENT: dict[str, str] = {}
"""The environment variables of all sandboxes; `enter` sets those of each."""

IMPORTS: tuple[str, ...] = ("matplotlib.style",)
"""Imported before a sandbox is made: these look into the user's home folder, and raise if they may
not."""

_EXECUTE, _WRITE, _READ, _LIST, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_MAKE_CHAR, _MAKE_SOCKET, _MAKE_BLOCK = 1 << 6, 1 << 9, 1 << 11
_EVERYTHING = (1 << 16) - 1
_OF_A_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE
_ON_SCRATCH = _EVERYTHING & ~(_MAKE_CHAR | _MAKE_SOCKET | _MAKE_BLOCK)
_DEVICES = ("null", "full", "random", "urandom")  # a mapping of "zero" is memory nothing counts
_LONGEST_END = 30.0
"""Seconds after which processes that start others faster than we end them are left alone."""


def why_not() -> str:
    """The reason why this kernel's Landlock is not enough; empty if it is."""
    version = syscalls.landlock_version()
    if version >= OLDEST:
        return ""
    if version == 0:
        return "this kernel has no Landlock"
    return f"this kernel has version {version} of Landlock, and {OLDEST} is needed (Linux 6.12)"


def leave(plan: Plan) -> Plan:
    """Prepare the process that waits for a sandbox: it outlives and ends what runs there.

    Returns:
        The plan, whose root is now the folder in which the sandbox may write.
    """
    if reason := why_not():
        raise OSError(reason)
    syscalls.adopt_orphans()
    signal.signal(signal.SIGTERM, _stop)
    syscalls.die_with_parent(signal.SIGTERM)  # not SIGKILL: it must end the others
    return replace(plan, root=str(temp_dirs.scratch()))


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit


def enter(plan: Plan) -> None:
    """Move into the sandbox's own folder, and drop every privilege.

    Raises:
        OSError: the kernel does not allow it.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # only the process that waits ends the others
    syscalls.adopt_orphans()
    folders = {name: f"{plan.root}/{name}" for name in ("student", "tmp", "tmp/compiled")}
    for folder in folders.values():
        os.mkdir(folder, 0o700)
    if os.getuid() == 0 and _is_open(plan.shown):
        with contextlib.suppress(PermissionError):  # a root that may not: then as any other user
            _become_nobody([plan.root, *folders.values()])
    os.environ["HOME"], os.environ["TMPDIR"] = folders["student"], folders["tmp"]
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folders["tmp/compiled"]
    os.chdir(folders["student"])
    os.umask(0o022)
    syscalls.set_no_new_privs()
    syscalls.drop_capabilities()
    syscalls.die_with_parent()  # again, because a change of user resets it


def _become_nobody(folders: list[str]) -> None:
    """Become a user that no other sandbox has, and give it these folders."""
    user = namespaces.free_user(os.getpid())
    for folder in folders:
        os.chown(folder, user, user)
    syscalls.become(user, user)
    syscalls.be_open()


def _is_open(paths: tuple[str, ...]) -> bool:
    """Whether every user can read these: root's Python may lie in a private folder."""
    return all(
        os.stat(path).st_mode & 0o004
        and all(os.stat(up).st_mode & 0o001 for up in Path(path).parents)
        for path in map(os.path.realpath, paths)
    )


def close_in(plan: Plan) -> None:
    """Permanently limit this process and its children to the files of the plan.

    Raises:
        OSError: the kernel does not allow it.
    """
    syscalls.die_with_parent()
    rules = syscalls.landlock_rules(_EVERYTHING)
    try:
        for path, access in _rules(plan).items():
            with contextlib.suppress(FileNotFoundError):
                syscalls.landlock_allow(rules, path, access, _OF_A_FILE)
        syscalls.landlock_restrict(rules)
    finally:
        os.close(rules)


def _rules(plan: Plan) -> dict[str, int]:
    """The paths that may be accessed, each with the ways in which it may.

    A rule holds for everything below its path, and nothing can be taken back. So above a covered
    folder, only names can be listed, and each other entry has a rule of its own.
    """
    found = dict.fromkeys((f"/dev/{name}" for name in _DEVICES), _READ | _WRITE | _TRUNCATE)
    for path in map(os.path.realpath, plan.shown):
        for entry, listed in _around(path, plan.covered):
            found[entry] = _LIST if listed else _EXECUTE | _READ | _LIST
    found[plan.root] = _ON_SCRATCH
    return found


def _around(path: str, covered: tuple[str, ...]) -> list[tuple[str, bool]]:
    """The entries below a path that together hold all but the covered folders.

    Returns:
        Paths, each with whether only the names in it may be listed.
    """
    inside = [one for one in covered if one.startswith(path.rstrip("/") + "/")]
    if path in covered:
        return []
    if not inside:
        return [(path, False)]
    entries = [entry.path for entry in os.scandir(path)]
    return [(path, True), *(one for entry in entries for one in _around(entry, covered))]


def processes(plan: Plan) -> Descendants:
    """The processes of the sandbox that this process supervises."""
    return Descendants(os.getpid(), plan.root)


def clear(plan: Plan) -> None:
    """End all processes that are left of a sandbox, and remove its folder."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    until = time.monotonic() + _LONGEST_END
    family = Descendants(os.getpid())
    while time.monotonic() < until and _are_left():
        for process in family.found():
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
    temp_dirs.remove(Path(plan.root))


def _are_left() -> bool:
    """Whether this process has children; it has adopted the orphans among its descendants."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False
