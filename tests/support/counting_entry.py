"""An entry of a fork server that counts its idle work, and sends the count from each process."""

from __future__ import annotations

import socket
from typing import Any

from autograder.sandbox.wire import send

MOST = 3
"""Amount of idle work."""


def get_ready(config: dict[str, Any], blobs: list[bytes]) -> list[int]:
    """Start with no work done."""
    return [0]


def idle(state: list[int]) -> bool:
    """Do one unit of work; return false if there is none left."""
    if state[0] == MOST:
        return False
    state[0] += 1
    return True


def serve(state: list[int], wire: socket.socket) -> None:
    """Send the amount of work done."""
    send(wire, {"done": state[0]})
