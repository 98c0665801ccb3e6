"""Processes without a sandbox: their visibility to other users, and their time to start.

Tests move the clock.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from autograder.builder.paths import ROOT
from autograder.core.limits import SuspendAwareClock
from autograder.sandbox import client, unboxed, wire
from autograder.sandbox.client import Image, SubprocessServer
from autograder.sandbox.resource_limits import MIB, Bounds
from autograder.sandbox.walls import NoBox
from tests.support.hand_clock import HandClock

IMAGE = Image({"count": ("tests.support.counting_entry", Bounds())})
TOKEN = b"0123456789abcdef"
Start = Callable[..., tuple["subprocess.Popen[bytes]", socket.socket]]


@pytest.fixture(autouse=True)
def _finds_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a process import `IMAGE` from the tests' folder."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.mark.parametrize("start", [unboxed.start, unboxed.start_and_accept])
def test_a_process_has_no_secret_in_its_arguments(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def noted(*given: Any) -> tuple[subprocess.Popen[bytes], socket.socket]:
        process, talk = start(*given)
        started.append(process)
        return process, talk

    monkeypatch.setattr(unboxed, "start", noted)
    process = SubprocessServer(IMAGE).process("count")
    assert wire.receive(process.talk) == ({"done": 0}, [])
    process.close()
    words = list(started[0].args)  # type: ignore[arg-type]
    more = [str(word) for word in words if word not in unboxed._COMMAND]
    assert all(word.isdecimal() and len(word) < 4 for word in more)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows needs a port for a moment")
def test_no_port_is_open_while_a_process_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def bind(*_: object) -> None:
        pytest.fail("a port is open")

    monkeypatch.setattr(socket.socket, "bind", bind)
    SubprocessServer(IMAGE).process("count").close()


def test_programs_that_a_notebook_starts_do_not_inherit_its_socket() -> None:
    ours, theirs = socket.socketpair()
    theirs.set_inheritable(True)
    with ours, unboxed._connect([str(theirs.detach())]) as connected:
        assert not os.get_inheritable(connected.fileno())


# ------------------------------------------------------------------ silent peers


def test_a_process_that_says_nothing_costs_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "LOOK", 0.0)
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(unboxed, "start", lambda *_: (None, ours))
    clock = SuspendAwareClock(HandClock(each_look=0.5))
    with theirs, pytest.raises(NoBox, match="did not answer in time"):
        SubprocessServer(IMAGE, clock).process("count")
    assert client.PATIENCE <= clock.now() <= client.PATIENCE + 5.0


def test_a_process_that_reads_nothing_costs_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(unboxed, "start", lambda *_: (None, ours))
    monkeypatch.setattr(client, "PATIENCE", 0.0)
    large = Image(IMAGE.entries, blobs=(bytes(16 * MIB),))
    with theirs, pytest.raises(NoBox, match="did not answer in time"):
        SubprocessServer(large).process("count")


@pytest.fixture
def accept(monkeypatch: pytest.MonkeyPatch) -> Callable[..., socket.socket]:
    monkeypatch.setattr(unboxed, "LOOK", 0.0)
    return partial(
        unboxed.accept,
        token=TOKEN,
        clock=SuspendAwareClock(HandClock(each_look=0.1)),
        patience=60.0,
    )


def connect(door: socket.socket, first: bytes = b"") -> socket.socket:
    peer = socket.create_connection(door.getsockname())
    peer.sendall(first)
    return peer


def test_other_users_keep_the_right_process_from_nothing(
    accept: Callable[..., socket.socket],
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as door,
        connect(door), connect(door, b"x" * len(TOKEN)), connect(door, TOKEN) as right,
        accept(door, ended=lambda: None) as found,
    ):  # fmt: skip
        right.sendall(b"it is me")
        assert found.recv(8) == b"it is me"


def test_other_users_are_not_waited_for_forever(accept: Callable[..., socket.socket]) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as door,
        connect(door), connect(door, TOKEN[:-1]), pytest.raises(wire.TooLate),
    ):  # fmt: skip
        accept(door, ended=lambda: None)


def test_a_process_that_has_ended_is_not_waited_for(accept: Callable[..., socket.socket]) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as door,
        pytest.raises(wire.Broken, match="ended with code 3"),
    ):
        accept(door, ended=lambda: 3)


def test_deadlines_hold_where_sockets_lack_a_flag_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "MSG_DONTWAIT")  # as on Windows
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with pytest.raises(wire.TooLate):
            wire.send(ours, {}, [bytes(16 * MIB)], until=time.monotonic() + 0.1)
        with pytest.raises(wire.TooLate):
            wire.receive(ours, until=time.monotonic() + 0.1)
