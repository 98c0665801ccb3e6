"""Runs a command as in a container with Docker's default profile, where namespaces are forbidden.

    python -m tests.support.plain_container [--user] COMMAND …

It takes away the capabilities and system calls that Docker takes away, and makes control groups
read-only. Root must start it. With ``--user``, the command runs as an ordinary user, as in a pod.

Source: https://docs.docker.com/engine/security/seccomp/
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
import tempfile

from autograder.sandbox import syscalls
from autograder.sandbox.syscall_numbers import LOOKED_AT, REFUSED

_KEPT = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
"""Numbers of the capabilities that Docker leaves to root."""

_FORBIDDEN = (
    "add_key", "bpf", "fsconfig", "fsmount", "fsopen", "init_module", "kexec_load", "keyctl",
    "mount", "mount_setattr", "move_mount", "name_to_handle_at", "open_by_handle_at", "open_tree",
    "perf_event_open", "pivot_root", "quotactl", "reboot", "request_key", "setns", "swapon",
    "umount2", "unshare", "userfaultfd",
)  # fmt: skip
_NEW_NAMESPACES = 0x7E020000
_LOAD, _EQUAL, _ANY_OF, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_COLUMN = {"x86_64": 0, "aarch64": 1}
_USER = 61_000
_CGROUPS = "/sys/fs/cgroup"


def _filter() -> bytes:
    column = _COLUMN[platform.machine()]
    lines = [(_LOAD, 0, 0, 0)]
    for name in _FORBIDDEN:
        lines += [(_EQUAL, 0, 1, REFUSED[name][column]), (_RETURN, 0, 0, _ERROR | errno.EPERM)]
    lines += [
        (_EQUAL, 0, 1, LOOKED_AT["clone3"][column]),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
        (_EQUAL, 0, 3, LOOKED_AT["clone"][column]),
        (_LOAD, 0, 0, 16),
        (_ANY_OF, 0, 1, _NEW_NAMESPACES),
        (_RETURN, 0, 0, _ERROR | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _drop_capabilities() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    for number in set(range(41)) - set(_KEPT):
        libc.prctl(24, number, 0, 0, 0)  # PR_CAPBSET_DROP
    kept = sum(1 << number for number in _KEPT)
    version = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.capset(version, (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)):
        raise OSError(ctypes.get_errno(), "capset")


def enter(*, user: bool) -> None:
    """Limit this process and its children to what a plain container allows."""
    syscalls.unshare(syscalls.NEW_MOUNTS)
    syscalls.mount("none", "/", None, syscalls.RECURSIVE | syscalls.PRIVATE)
    syscalls.mount(_CGROUPS, _CGROUPS, None, syscalls.BIND | syscalls.RECURSIVE)
    syscalls.make_read_only(_CGROUPS)
    syscalls.filter_calls(_filter())
    if user:
        home = tempfile.mkdtemp(prefix="plain-container-")
        os.chown(home, _USER, _USER)
        os.environ |= {"HOME": home, "TMPDIR": home}
        os.chdir(home)
        os.setgroups([])
        os.setresgid(_USER, _USER, _USER)
        os.setresuid(_USER, _USER, _USER)
        syscalls.drop_capabilities()
    else:
        _drop_capabilities()


def main() -> None:
    """Run the command on the command line."""
    words = sys.argv[1:]
    user = words[:1] == ["--user"]
    enter(user=user)
    command = words[user:]
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
