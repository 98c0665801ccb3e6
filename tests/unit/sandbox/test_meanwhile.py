"""Whoever waits for a process can do something meanwhile; it costs the process no time."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

import pytest

from autograder.core.ending import End
from autograder.sandbox.client import Process, ProcessLost
from autograder.sandbox.wire import Broken, receive, send


def _answer(wire: socket.socket, begun: list[str], after: float) -> None:
    receive(wire)
    begun.append("there")
    time.sleep(after)
    with contextlib.suppress(Broken):  # nobody waits any more
        send(wire, {"done": "work"})


def _step(takes: float, here: float, patience: float) -> list[str]:
    """What was begun first, and what next, in a step; both take so many seconds."""
    begun: list[str] = []

    def meanwhile() -> None:
        until = time.monotonic() + 5.0
        while not begun and time.monotonic() < until:
            time.sleep(0.001)
        begun.append("here")
        time.sleep(here)

    ours, theirs = socket.socketpair()
    with theirs:
        threading.Thread(target=_answer, args=(theirs, begun, takes), daemon=True).start()
        process = Process(ours, None)
        try:
            process.step({"do": "work"}, patience=patience, meanwhile=meanwhile)
        finally:
            process.close()
    return begun


def test_it_is_done_once_the_process_has_its_step() -> None:
    assert _step(takes=0.0, here=0.0, patience=5.0) == ["there", "here"]


def test_its_time_does_not_count() -> None:
    assert _step(takes=0.5, here=0.4, patience=0.3) == ["there", "here"]


def test_the_process_still_has_its_own_time_only() -> None:
    with pytest.raises(ProcessLost) as lost:
        _step(takes=2.0, here=0.05, patience=0.1)
    assert lost.value.ending.end is End.OUT_OF_TIME
