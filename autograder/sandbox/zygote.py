"""The process that fork servers are forked from: what all of them import is imported once.

For each fork server it is sent the environment, the server's end of a socket, and where its output
goes.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping

from autograder.sandbox import fork_server, syscalls, temp_dirs

COMMON = "autograder.speed.imports"
"""The module that imports it, with a function `import_common`."""

LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Has the C library ask for large pages for its own memory; others know no such variable.

Imports then cost the kernel about a third less, and forks half, until `huge_pages` has put the rest
together.
"""

MAX_ENVIRONMENT = 1 << 17
"""Bytes that the environment of a fork server may have."""


class NotForked(Exception):
    """A fork server was not forked; the message is what the process has printed before it ended."""


class ForkedServer:
    """A fork server, which is no child of this process.

    Attributes:
        pid: its process id.
    """

    def __init__(self, pid: int, output: int) -> None:
        self.pid = pid
        self._output = open(output, "rb")  # noqa: SIM115 - `close` closes it
        self._end = os.pidfd_open(pid)

    def has_ended(self, patience: float) -> bool:
        """Whether it ends within so many seconds."""
        return self._end < 0 or bool(select.select([self._end], [], [], patience)[0])

    def kill(self) -> None:
        """End it, and all that it has forked."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._end, signal.SIGKILL)
        self.has_ended(patience=10.0)

    def said(self) -> str:
        """What it has printed, once it has ended."""
        return self._output.read().decode(errors="replace").strip()

    def close(self) -> None:
        """Let go of it."""
        self._output.close()
        if self._end >= 0:
            os.close(self._end)
        self._end = -1


class Zygote:
    """The client's side of the process that fork servers are forked from.

    Args:
        environment: what that process may know of the environment.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._folder, self._asking = temp_dirs.own(), threading.Lock()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        start = "from autograder.sandbox.zygote import main; main()"
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", start, str(theirs.fileno()), COMMON],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd="/",
                env=dict(environment) | LARGE_PAGES | {"TMPDIR": str(self._folder)},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def is_alive(self) -> bool:
        """Whether it can fork."""
        return self._process.poll() is None

    def fork(self, environment: Mapping[str, str], wire: socket.socket) -> ForkedServer:
        """A new fork server.

        Args:
            environment: the server's.
            wire: its end of the socket over which it is asked.

        Raises:
            NotForked: it is gone, or has never come up.
        """
        output, theirs = os.pipe()
        try:
            request = json.dumps(dict(environment)).encode()
            with self._asking:
                socket.send_fds(self._control, [request], [wire.fileno(), theirs])
                said = self._control.recv(100)
        except OSError:
            said = b""
        finally:
            os.close(theirs)
        if not said:
            os.close(output)
            raise NotForked(self._last_words())
        return ForkedServer(int(said), output)

    def _last_words(self) -> str:
        self._process.kill()
        return self._process.communicate()[0].decode(errors="replace").strip()

    def close(self) -> None:
        """End it, and all that was forked from it."""
        self._control.close()
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)


_alive: dict[tuple[int, str], Zygote] = {}
"""By this process and the environment; a process that was forked from this one has its own."""

_starting = threading.Lock()


def zygote(environment: Mapping[str, str]) -> Zygote:
    """The process for servers with that environment; it is started when first asked for."""
    key = os.getpid(), json.dumps(dict(environment), sort_keys=True)
    with _starting:
        found = _alive.get(key)
        if found is None or not found.is_alive():
            found = _alive[key] = Zygote(environment)
        return found


@atexit.register
def let_go() -> None:
    """End the processes that were started here."""
    for pid, environment in list(_alive):
        found = _alive.pop((pid, environment))
        if pid == os.getpid():
            found.close()


# ------------------------------------------------------------------ in that process


def main() -> None:
    """Import what fork servers begin with, then fork one for each request."""
    control = socket.socket(fileno=int(sys.argv[1]))
    syscalls.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client decides what a Ctrl-C ends
    gc.disable()  # what is imported stays
    importlib.import_module(sys.argv[2]).import_common()
    gc.freeze()  # without a search for garbage: of imports there is little, and somebody waits
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system buries who ends
    while True:
        request, fds, _, _ = socket.recv_fds(control, MAX_ENVIRONMENT, 2)
        if not request:
            return
        pid = os.fork()
        if pid == 0:
            control.close()
            _be_a_server(json.loads(request), *fds)
        for number in fds:
            os.close(number)
        control.send(str(pid).encode())


def _be_a_server(environment: dict[str, str], wire: int, output: int) -> None:
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in (1, 2):
            os.dup2(output, number)
        os.close(output)
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        sys.argv = ["-c", str(wire)]
        fork_server.main()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(0)
