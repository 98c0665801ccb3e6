"""Fork servers that are forked from a process which has imported what each of them begins with.

For every chapter there is a server of judges and one of notebooks. Both take four seconds until
they have imported PyTorch and what does not depend on the chapter; here that is done once. What a
chapter adds, and what of it may be known where, each server does and tries by itself, as always.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.sandbox import client

BEGINNINGS = {
    "autograder.boxed.judge_service": """
import autograder.boxed.judge_service as begun
begun.import_late()
for room in begun._ROOMS:
    begun._import_all(f"autograder.{room}")
""",
    "autograder.boxed.student": """
import autograder.boxed.preload as begun
begun.start_autograd()
begun.import_late()
import autograder.boxed.graph_service, autograder.boxed.student, matplotlib.pyplot
for name in begun._ALWAYS:
    importlib.import_module(name)
""",
}
"""What is imported ahead, by the module of a server's first entry."""

PARENT = """
import gc, importlib, json, os, signal, socket, sys, tempfile
from autograder.sandbox import syscalls
from autograder.sandbox.fork_server import main
syscalls.die_with_parent()
{beginning}
gc.collect()
gc.freeze()
control = socket.socket(fileno=int(sys.argv[1]))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system buries who ends
while True:
    request, fds, _, _ = socket.recv_fds(control, 1 << 16, 2)
    if not request:
        sys.exit()
    pid = os.fork()
    if pid:
        for number in fds:
            os.close(number)
        control.send(str(pid).encode())
        continue
    try:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(fds[1], 1)
        os.dup2(fds[1], 2)
        os.close(fds[1])
        os.environ.clear()
        os.environ.update(json.loads(request))
        tempfile.tempdir = None
        sys.argv = ["-c", str(fds[0])]
        main()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)
"""
"""The program that is forked; it is text, so that no module of the tests is in any server."""


class Forked:
    """A forked process as `client` looks at processes; its output comes through `stdout`."""

    def __init__(self, pid: int, output: int) -> None:
        self.pid = pid
        self.stdout = open(output, "rb")  # noqa: SIM115
        self._ended = os.pidfd_open(pid)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended."""
        if self._ended >= 0:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a forked server", timeout or 0)
            os.close(self._ended)
            self._ended = -1
        return 0

    def kill(self) -> None:
        """End it."""
        if self._ended >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._ended, signal.SIGKILL)

    def communicate(self) -> tuple[bytes, None]:
        """Wait until it has ended; what it has printed."""
        said = self.stdout.read()
        self.wait()
        return said, None


class Parent:
    """The process that is forked, for servers with one first entry."""

    def __init__(self, entry: str, environment: Mapping[str, str]) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = PARENT.format(beginning=BEGINNINGS[entry])
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", program, str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd="/",
                env=dict(environment),
            )  # fmt: skip

    def fork(self, command: list[str], **how: Any) -> Forked:
        """As `subprocess.Popen`, for the command that starts a fork server."""
        ours, theirs = os.pipe()
        try:
            request = json.dumps(how["env"]).encode()
            socket.send_fds(self._control, [request], [int(command[-1]), theirs])
        finally:
            os.close(theirs)
        return Forked(int(self._control.recv(100)), ours)


@lru_cache
def parent_of(entry: str, path: str | None) -> Parent:
    """The process of that entry's servers, with that ``PYTHONPATH``; it ends with this one."""
    return Parent(entry, client._environment())


@contextmanager
def forked_servers() -> Iterator[None]:
    """Fork servers are forked within this, as far as it is known what they begin with."""
    start_really = client.ForkServer.__init__

    def start(self: client.ForkServer, image: client.Image) -> None:
        entry = next(iter(image.entries.values()))[0]
        if entry not in BEGINNINGS or sys.platform != "linux":
            start_really(self, image)
            return
        with pytest.MonkeyPatch.context() as patch:
            forking = SimpleNamespace(**vars(subprocess))
            forking.Popen = parent_of(entry, os.environ.get("PYTHONPATH")).fork
            patch.setattr(client, "subprocess", forking)
            start_really(self, image)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client.ForkServer, "__init__", start)
        yield
