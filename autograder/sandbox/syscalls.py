"""System calls that the sandbox needs and Python does not offer."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
from functools import cache

NEW_MOUNTS, NEW_HOST, NEW_IPC = 0x00020000, 0x04000000, 0x08000000
NEW_USER, NEW_PROCESSES, NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000

READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC = 0x1, 0x2, 0x4, 0x8
REMOUNT, BIND, RECURSIVE, PRIVATE = 0x20, 0x1000, 0x4000, 0x40000
_DETACH = 0x2

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_KEEPCAPS = 1, 4, 8
_PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 22, 36, 38
_CAPABILITIES_3 = 0x20080522
_MOUNT_SETATTR = 442  # the same number on every architecture, as those of Landlock
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_VERSION, _LANDLOCK_BELOW = 1, 1
_BIND_OR_CONNECT, _ABSTRACT_SOCKETS_AND_SIGNALS = 3, 3
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_COLLAPSE = 25
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leave namespaces that are shared with other processes."""
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount a file system."""
    arguments = source.encode(), target.encode(), kind and kind.encode()
    done = _libc.mount(*arguments, ctypes.c_ulong(flags), data.encode() or None)
    _checked(done, f"mounting {target}")


def make_read_only(target: str) -> None:
    """Make a mount and all mounts below it read-only, without devices and set-uid files."""

    class Attributes(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "spread", "userns")]

    wanted = Attributes(READ_ONLY | NO_SUID | NO_DEVICES, 0, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    path = ctypes.c_char_p(target.encode())
    done = _libc.syscall(
        _MOUNT_SETATTR, _AT_FDCWD, path, _AT_RECURSIVE, ctypes.byref(wanted), size
    )  # fmt: skip
    _checked(done, f"making {target} read-only")


def change_root(new: str) -> None:
    """Make a mount the root of the file system, and detach the old one."""
    os.chdir(new)
    number = _PIVOT_ROOT.get(platform.machine())
    if number is None:
        raise OSError(f"the box does not know the architecture {platform.machine()}")
    _checked(_libc.syscall(number, b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", _DETACH), "umount")
    os.chdir("/")


def collapse(begin: int, size: int) -> bool:
    """Make the kernel use large pages for some memory; return whether it supports that.

    Args:
        begin: address of the memory, aligned to a large page.
        size: its bytes.
    """
    done = _libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(size), _COLLAPSE)
    # Other errors mean that the memory has no pages yet, or no longer exists.
    return done == 0 or ctypes.get_errno() != errno.EINVAL or _knows_how()


@cache
def _knows_how() -> bool:
    """Whether the kernel supports the call: then it accepts a range of size 0."""
    return bool(_libc.madvise(None, ctypes.c_size_t(0), _COLLAPSE) == 0)


def _prctl(option: int, *values: int | ctypes.c_void_p) -> None:
    padded = (*values, 0, 0, 0, 0)[:4]
    arguments = [v if isinstance(v, ctypes.c_void_p) else ctypes.c_ulong(v) for v in padded]
    _checked(_libc.prctl(option, *arguments), "prctl")


def die_with_parent(signal: int = 9) -> None:
    """Make the kernel send this process a signal when its parent ends, by default SIGKILL."""
    _prctl(_PR_SET_PDEATHSIG, signal)


def adopt_orphans() -> None:
    """Make this process the parent of each descendant whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def set_undumpable() -> None:
    """Prevent other processes of the same user from inspecting this one."""
    _prctl(_PR_SET_DUMPABLE, 0)


def be_open() -> None:
    """Make this process's files in /proc belong to its user; a fork inherits the setting."""
    _prctl(_PR_SET_DUMPABLE, 1)


def set_no_new_privs() -> None:
    """Renounce privileges that set-uid programs could give."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def become(user: int, group: int) -> None:
    """Become another user permanently, and keep the present capabilities."""
    _prctl(_PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)
    version, sets = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()
    _checked(_libc.capget(version, sets), "capget")
    sets[0], sets[3] = sets[1], sets[4]  # effective = permitted, in both halves
    _checked(_libc.capset(version, sets), "capset")


def drop_capabilities() -> None:
    """Drop all capabilities that a user namespace gave."""
    version = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
    _checked(_libc.capset(version, (ctypes.c_uint32 * 6)()), "capset")


IDLE = 20
"""One more than the lowest priority: for threads that run only when no other thread wants to."""


def put_behind(task: int, nice: int) -> None:
    """Lower the priority of a thread, which cannot raise it again without a privilege."""
    with contextlib.suppress(OSError):  # it may have ended
        os.setpriority(os.PRIO_PROCESS, task, min(nice, IDLE - 1))
        if nice == IDLE:
            os.sched_setscheduler(task, os.SCHED_IDLE, os.sched_param(0))


def filter_calls(program: bytes) -> None:
    """Make the kernel check every later system call with a BPF program."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    wanted = Program(len(program) // 8, program)
    _prctl(_PR_SET_SECCOMP, 2, ctypes.cast(ctypes.pointer(wanted), ctypes.c_void_p))


def landlock_version() -> int:
    """The version of the kernel's Landlock; 0 without it."""
    found = _libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)
    return max(0, int(found))


def landlock_rules(handled: int) -> int:
    """Make a set of rules that allows nothing yet; return its file descriptor.

    It forbids TCP, and signals and abstract sockets to processes outside.

    Args:
        handled: the ways of access to files that it forbids, as bits.
    """
    wanted = (ctypes.c_uint64 * 3)(handled, _BIND_OR_CONNECT, _ABSTRACT_SOCKETS_AND_SIGNALS)
    made = int(_libc.syscall(_LANDLOCK_CREATE, wanted, ctypes.c_size_t(24), 0))
    _checked(min(made, 0), "landlock_create_ruleset")
    return made


def landlock_allow(rules: int, path: str, access: int, of_a_file: int) -> None:
    """Allow access to a path, and to everything below it.

    Args:
        rules: the set of rules.
        path: a file or folder.
        access: the ways of access, as bits.
        of_a_file: those among them that a file can have.
    """

    class Rule(ctypes.Structure):
        _pack_ = 1
        _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]

    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = Rule(access if os.path.isdir(path) else access & of_a_file, parent)
        done = _libc.syscall(_LANDLOCK_ADD, rules, _LANDLOCK_BELOW, ctypes.byref(rule), 0)
        _checked(done, f"landlock_add_rule for {path}")
    finally:
        os.close(parent)


def landlock_restrict(rules: int) -> None:
    """Permanently limit this thread and its children to a set of rules."""
    _checked(_libc.syscall(_LANDLOCK_RESTRICT, rules, 0), "landlock_restrict_self")
