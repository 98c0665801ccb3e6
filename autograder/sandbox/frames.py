"""The wire between a grader and a student's process: frames of JSON and raw bytes.

Whoever reads does not trust whoever writes: every size is bounded, nothing is unpickled, and
waiting has an end.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import time
from typing import Any

MAX_HEAD = 32 * 1024 * 1024
MAX_BLOBS = 256 * 1024 * 1024
MAX_COUNT = 10_000
_LENGTH = struct.Struct("<I")

Frame = tuple[dict[str, Any], list[bytes]]


class Broken(Exception):
    """The other side has hung up, or sends what is not a frame."""


class TooLate(Exception):
    """The other side has not answered in time."""


def send(wire: socket.socket, head: dict[str, Any], blobs: list[bytes] | None = None) -> None:
    """Send one frame.

    Raises:
        Broken: the other side has hung up.
    """
    blobs = blobs or []
    text = json.dumps(head | {"blobs": [len(blob) for blob in blobs]}).encode()
    try:
        wire.sendall(_LENGTH.pack(len(text)) + text)
        for blob in blobs:
            wire.sendall(blob)
    except OSError as error:
        raise Broken(str(error)) from None


def receive(wire: socket.socket, until: float | None = None) -> Frame:
    """Receive one frame.

    Args:
        wire: where from.
        until: when to give up, on the clock of `time.monotonic`.

    Raises:
        Broken: the other side has hung up, or this is not a frame within the limits.
        TooLate: it is not there in time.
    """
    (length,) = _LENGTH.unpack(_exactly(wire, _LENGTH.size, until))
    if length > MAX_HEAD:
        raise Broken("a frame's head is too large")
    head = as_plain(_exactly(wire, length, until))
    sizes = head.pop("blobs", None)
    if not isinstance(sizes, list) or len(sizes) > MAX_COUNT:
        raise Broken("a frame without the sizes of its parts")
    if not all(type(size) is int and size >= 0 for size in sizes) or sum(sizes) > MAX_BLOBS:
        raise Broken("a frame's parts are too large")
    return head, [_exactly(wire, size, until) for size in sizes]


def as_plain(text: bytes) -> dict[str, Any]:
    """A JSON object from bytes that anybody may have written.

    Raises:
        Broken: it is none.
    """
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Broken(f"a frame that is not JSON: {error}"[:200]) from None
    if not isinstance(found, dict):
        raise Broken("a frame that is not an object")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _exactly(wire: socket.socket, size: int, until: float | None) -> bytes:
    found = bytearray()
    while len(found) < size:
        if until is not None:
            left = until - time.monotonic()
            if left <= 0 or not select.select([wire], [], [], left)[0]:
                raise TooLate
        try:
            part = wire.recv(min(size - len(found), 1 << 20))
        except OSError as error:
            raise Broken(str(error)) from None
        if not part:
            raise Broken("the other side has hung up")
        found += part
    return bytes(found)
