"""Which system calls no notebook needs: the kernel refuses them in the box.

A second wall behind `walls`: what these calls reach is either not there or not allowed
already, but each is a way to the kernel that need not be open.
"""

from __future__ import annotations

import errno
import platform
import struct

from autograder.sandbox import linux

# By the names of the manual pages; (x86_64, aarch64).
_REFUSED = {
    "add_key": (248, 217), "bpf": (321, 280), "chroot": (161, 51), "delete_module": (176, 106),
    "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fsopen": (430, 430), "init_module": (175, 105), "io_uring_setup": (425, 425),
    "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "mount": (165, 40),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "mq_open": (240, 180),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241),
    "personality": (135, 92), "pidfd_getfd": (438, 438), "pivot_root": (155, 41),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117),
    "quotactl": (179, 60), "reboot": (169, 142), "request_key": (249, 218), "setns": (308, 268),
    "shmget": (29, 194),
    "swapon": (167, 224), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
}  # fmt: skip
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
_NEW_NAMESPACES = 0x7E020000
_FAMILIES = (1, 2, 10)  # unix, inet, inet6; others may lead out of a network namespace
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000


def refuse_calls() -> None:
    """Refuse these calls in this process and all that it starts; for good."""
    if platform.machine() in _ARCHITECTURES:
        linux.filter_calls(program(platform.machine()))


def program(machine: str) -> bytes:
    """The filter for an architecture, in the kernel's classic BPF."""
    column, architecture = _ARCHITECTURES[machine]
    refuse, unknown = _REFUSE | errno.EPERM, _REFUSE | errno.ENOSYS
    lines = [
        *_unless(_EQUAL, architecture, refuse, load=4),
        (_LOAD, 0, 0, 0),
        *_if(_AT_LEAST, 0x40000000, refuse),  # the x32 calls of x86_64
        *(line for n in _REFUSED.values() for line in _if(_EQUAL, n[column], refuse)),
        *_if(_EQUAL, _CLONE3[column], unknown),  # its flags cannot be seen; `clone` is used then
        (_EQUAL, 0, 3, _CLONE[column]),
        (_LOAD, 0, 0, 16),
        *_if(_ANY_OF, _NEW_NAMESPACES, refuse),
        (_LOAD, 0, 0, 0),
        (_EQUAL, 0, 2 + len(_FAMILIES), _SOCKET[column]),
        (_LOAD, 0, 0, 16),
        *((_EQUAL, len(_FAMILIES) - i, 0, n) for i, n in enumerate(_FAMILIES)),
        (_RETURN, 0, 0, refuse),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


Line = tuple[int, int, int, int]


def _if(test: int, number: int, then: int) -> list[Line]:
    return [(test, 0, 1, number), (_RETURN, 0, 0, then)]


def _unless(test: int, number: int, then: int, load: int) -> list[Line]:
    return [(_LOAD, 0, 0, load), (test, 1, 0, number), (_RETURN, 0, 0, then)]
