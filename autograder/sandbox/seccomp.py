"""The filter of system calls for notebooks: the kernel rejects every call that is not allowed.

It is a second barrier after `namespaces` or `landlock`, and limits kernel resources that no other
part counts. A rejected call does not end the process: it fails with "not implemented" or "not
permitted". If a sandbox shares the machine with others, as with Landlock, more is rejected.
"""

from __future__ import annotations

import errno
import platform
import struct

from autograder.sandbox import syscalls
from autograder.sandbox.syscall_numbers import ALLOWED, LOOKED_AT, REFUSED

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020000
_FAMILIES = (1, 2, 10)  # unix, inet, inet6; others may reach outside a network namespace
_SHARED_ANONYMOUS = 0x01 | 0x20
_NOT_COUNTED = (36, 37, 38, 1024)  # F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE
_SET_SECCOMP, _SET_DUMPABLE = 22, 4
_UNIX, _STREAM, _SEQPACKET, _KIND = 1, 1, 5, 0xF
_REQUESTS = (
    0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451,  # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, …
    0x40049409, 0x4020940D,  # FICLONE, FICLONERANGE
)  # fmt: skip

# Pairs of a level and an option of `setsockopt`.
_SIZES = ((1, 7), (1, 8))  # SO_SNDBUF, SO_RCVBUF
_OPTIONS = (
    (1, 2), (1, 6), (1, 9), (1, 13), (1, 15), (1, 16), (1, 20), (1, 21),  # SO_REUSEADDR …
    (6, 1), (6, 4), (6, 5), (6, 6), (41, 26),  # TCP_NODELAY, TCP_KEEPIDLE …, IPV6_V6ONLY
)  # fmt: skip

_LOAD, _MASK, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _ABOVE, _AT_LEAST, _ANY_OF = 0x15, 0x25, 0x35, 0x45
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000

Line = tuple[int, int, int, int]


def refuse_calls(*, shared: bool = False) -> None:
    """Permanently limit this process and its children to the allowed system calls.

    Args:
        shared: whether the sandbox shares the machine's processes, network and files.
    """
    if platform.machine() in _ARCHITECTURES:
        syscalls.filter_calls(program(platform.machine(), shared=shared))


def program(machine: str, *, shared: bool = False) -> bytes:
    """The filter for an architecture, in the kernel's classic BPF."""
    column, architecture = _ARCHITECTURES[machine]
    by_arguments = _by_arguments() | (_where_shared() if shared else {})
    allowed = _numbers({n: p for n, p in ALLOWED.items() if n not in by_arguments}, column)
    refused = _numbers(REFUSED, column)
    lines = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, architecture),
        _fail(errno.ENOSYS),
        (_LOAD, 0, 0, 0),
        *_if(_AT_LEAST, _X32, _fail(errno.ENOSYS)),
        *(line for span in _spans(allowed) for line in _within(span, (_RETURN, 0, 0, _ALLOW))),
        *(line for span in _spans(refused) for line in _within(span, _fail(errno.EPERM))),
        *(
            line
            for name, block in by_arguments.items()
            for line in _when((LOOKED_AT | ALLOWED)[name][column], block)
        ),
        _fail(errno.ENOSYS),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _by_arguments() -> dict[str, list[Line]]:
    """The checks of calls by their arguments; every path through a block ends with a return."""
    allow, refuse = (_RETURN, 0, 0, _ALLOW), _fail(errno.EPERM)
    families = [line for n in _FAMILIES for line in _if(_EQUAL, n, allow)]
    on_process_1 = [_argument(0), *_if(_EQUAL, 1, refuse), allow]
    return {
        # Anonymous shared memory stays allocated after it is unmapped, and does not count as
        # resident memory. Programs can use files in /dev/shm, whose size is limited.
        "mmap": [
            _argument(3),
            (_MASK, 0, 0, _SHARED_ANONYMOUS),
            *_if(_EQUAL, _SHARED_ANONYMOUS, refuse),
            allow,
        ],
        # Locks of open files belong to no process, so a sandbox's locks could not be counted. A
        # lease lets other programs wait.
        "fcntl": [
            _argument(1),
            *(line for n in _NOT_COUNTED for line in _if(_EQUAL, n, _fail(errno.EINVAL))),
            allow,
        ],
        "prctl": [_argument(0), *_if(_EQUAL, _SET_SECCOMP, refuse), allow],
        "clone": [_argument(0), *_if(_ANY_OF, _NEW_NAMESPACES, refuse), allow],
        "clone3": [_fail(errno.ENOSYS)],  # a filter cannot see its flags; libc uses `clone` then
        "socket": [_argument(0), *families, refuse],
        "socketpair": [_argument(0), *families, refuse],
        # Data in sockets is kernel memory, so buffers must keep their usual size.
        "setsockopt": [
            *(line for pair in _SIZES for line in _option(pair, _fail(0))),
            *(line for pair in _OPTIONS for line in _option(pair, allow)),
            _fail(errno.ENOPROTOOPT),
        ],
        # A new session would be another scheduling group, with as large a share as the whole
        # sandbox.
        "setsid": [_fail(0)],
        # Only for the caller itself: process 1 has the same user, and must keep its priority.
        "setpriority": [
            _argument(0),
            (_EQUAL, 1, 0, 0),
            refuse,
            _argument(1),
            *_if(_EQUAL, 0, allow),
            refuse,
        ],
        "prlimit64": on_process_1,
        "sched_setaffinity": on_process_1,
    }


def _where_shared() -> dict[str, list[Line]]:
    """The checks of calls that would reach others where nothing but this filter is in between."""
    allow, refuse = (_RETURN, 0, 0, _ALLOW), _fail(errno.EPERM)
    on_itself = [_argument(0), *_if(_EQUAL, 0, allow), refuse]
    return {
        # No socket has an address, so none leads to a server of this machine, or outside. The error
        # is that of a machine without a network.
        **{name: [_fail(errno.ENETUNREACH)] for name in _WITH_ADDRESSES},
        "socketpair": [
            _argument(0),
            *_unless(_EQUAL, _UNIX, refuse),
            _argument(1),
            (_MASK, 0, 0, _KIND),
            *_if(_EQUAL, _STREAM, allow),
            *_if(_EQUAL, _SEQPACKET, allow),
            refuse,
        ],
        # Landlock does not restrict these, and the user may own files elsewhere. Programs that copy
        # files call them, so they pretend success.
        **{name: [_fail(0)] for name in _OF_FILES},
        "ioctl": [
            _argument(1),
            *(line for n in _REQUESTS for line in _if(_EQUAL, n, allow)),
            _fail(errno.ENOTTY),
        ],
        "prctl": [
            _argument(0),
            *(line for n in (_SET_SECCOMP, _SET_DUMPABLE) for line in _if(_EQUAL, n, refuse)),
            allow,
        ],
        "prlimit64": on_itself,
        "sched_setaffinity": on_itself,
    }


_WITH_ADDRESSES = ("socket", "bind", "connect", "listen", "accept", "accept4")
_OF_FILES = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "fchownat", "lchown",
    "utime", "utimes", "futimesat", "utimensat",
)  # fmt: skip


def _numbers(calls: dict[str, tuple[int, int | None]], column: int) -> list[int]:
    return sorted(number for pair in calls.values() if (number := pair[column]) is not None)


def _spans(numbers: list[int]) -> list[tuple[int, int]]:
    """Ranges of consecutive numbers, each by its first and last."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def _argument(index: int) -> Line:
    return (_LOAD, 0, 0, 16 + 8 * index)  # the lower half: both architectures are little-endian


def _fail(number: int) -> Line:
    """Return an error; 0 pretends success without doing anything."""
    return (_RETURN, 0, 0, _ERROR | number)


def _if(test: int, number: int, then: Line) -> list[Line]:
    return [(test, 0, 1, number), then]


def _unless(test: int, number: int, then: Line) -> list[Line]:
    return [(test, 1, 0, number), then]


def _within(span: tuple[int, int], then: Line) -> list[Line]:
    return [(_AT_LEAST, 0, 2, span[0]), (_ABOVE, 1, 0, span[1]), then]


def _when(number: int | None, block: list[Line]) -> list[Line]:
    return [] if number is None else [(_EQUAL, 0, len(block), number), *block]


def _option(pair: tuple[int, int], then: Line) -> list[Line]:
    return [
        _argument(1),
        (_EQUAL, 0, 3, pair[0]),
        _argument(2),
        (_EQUAL, 0, 1, pair[1]),
        then,
    ]
