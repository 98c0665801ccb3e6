"""The protocol between two processes, one of them sandboxed: frames of JSON and raw bytes.

A reader does not trust the writer: every size is limited, nothing is unpickled, and waiting has a
deadline.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import time
from typing import Any

MAX_HEAD = 1024 * 1024
"""Maximum bytes of a head, by default."""

MAX_OUTPUTS = 32 * 1024 * 1024
"""Maximum bytes of a head with the outputs of a cell."""

MAX_CONTAINERS, MAX_COMMAS = 400_000, 2_000_000
"""Limits of a head, because a list or an object needs many times the memory of its two characters,
and an item many times that of its comma."""

TOGETHER = 1 << 16
"""Bytes up to which a frame is sent in one piece, so that its reader wakes up only once."""

MAX_BLOBS = 256 * 1024 * 1024
MAX_COUNT = 10_000
_LENGTH = struct.Struct("<I")

Frame = tuple[dict[str, Any], list[bytes]]


class Broken(Exception):
    """The other side has closed the socket, or sent something that is not a frame."""


class TooLate(Exception):
    """The other side has not answered in time."""


def send(
    wire: socket.socket,
    head: dict[str, Any],
    blobs: list[bytes] | None = None,
    until: float | None = None,
) -> None:
    """Send one frame.

    Args:
        wire: the socket.
        head: the part that JSON can express.
        blobs: bytes that go with it.
        until: the deadline, on the clock of `time.monotonic`.

    Raises:
        Broken: the other side has closed the socket.
        TooLate: it does not read the frame in time.
    """
    blobs = blobs or []
    text = json.dumps(head | {"blobs": [len(blob) for blob in blobs]}).encode()
    parts = [_LENGTH.pack(len(text)), text, *blobs]
    if sum(map(len, parts)) <= TOGETHER:
        parts = [b"".join(parts)]
    for part in parts:
        _all_of(wire, memoryview(part), until)


def _all_of(wire: socket.socket, left: memoryview, until: float | None) -> None:
    try:
        flags = _flags(wire, until)
        if until is None:
            wire.sendall(left)
            return
        while left:
            patience = until - time.monotonic()
            if patience <= 0:
                raise TooLate
            try:
                left = left[wire.send(left, flags) :]
            except BlockingIOError:
                if not select.select([], [wire], [], patience)[1]:
                    raise TooLate from None
    except OSError as error:
        raise Broken(str(error)) from None


def _flags(wire: socket.socket, until: float | None) -> int:
    """Flags for one call that must not block if there is a deadline."""
    if hasattr(socket, "MSG_DONTWAIT"):
        return 0 if until is None else socket.MSG_DONTWAIT
    wire.setblocking(until is None)  # Windows
    return 0


def receive(wire: socket.socket, until: float | None = None, largest: int = MAX_HEAD) -> Frame:
    """Receive one frame.

    Args:
        wire: the socket.
        until: the deadline, on the clock of `time.monotonic`.
        largest: maximum bytes of its head.

    Raises:
        Broken: the other side has closed the socket, or this is not a frame within the limits.
        TooLate: it does not arrive in time.
    """
    (length,) = _LENGTH.unpack(_exactly(wire, _LENGTH.size, until))
    if length > largest:
        raise Broken("a frame's head is too large")
    head = as_plain(_exactly(wire, length, until))
    sizes = head.pop("blobs", None)
    if not isinstance(sizes, list) or len(sizes) > MAX_COUNT:
        raise Broken("a frame without the sizes of its parts")
    if not all(type(size) is int and size >= 0 for size in sizes) or sum(sizes) > MAX_BLOBS:
        raise Broken("a frame's parts are too large")
    return head, [_exactly(wire, size, until) for size in sizes]


def as_plain(text: bytes) -> dict[str, Any]:
    """Parse a JSON object from an untrusted writer.

    Raises:
        Broken: it is not one.
    """
    containers = text.count(b"[") + text.count(b"{")
    if containers > MAX_CONTAINERS or text.count(b",") > MAX_COMMAS:
        raise Broken("a frame's head has too many parts")
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
    found, flags = bytearray(), _flags(wire, until)
    while len(found) < size:
        left = 0.0 if until is None else until - time.monotonic()
        if until is not None and left <= 0:
            raise TooLate
        try:
            part = wire.recv(min(size - len(found), 1 << 20), flags)
        except BlockingIOError:
            if not select.select([wire], [], [], left)[0]:
                raise TooLate from None
            continue
        except OSError as error:
            raise Broken(str(error)) from None
        if not part:
            raise Broken("its process is gone")
        found += part
    return bytes(found)
