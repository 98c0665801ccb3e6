"""The process from which fork servers are forked, so that common modules are imported once.

For each fork server, the client sends the environment, the server's end of a socket, and the pipe
for its output.
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
"""The module whose function `import_common` imports the common modules."""

LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Makes glibc ask for large pages; other C libraries ignore the variable.

It saves about a third of the kernel's time for imports, and half of that for forks, until
`huge_pages` has moved the rest to large pages.
"""

MAX_ENVIRONMENT = 1 << 17
"""Maximum bytes of a fork server's environment."""


class NotForked(Exception):
    """A fork server was not forked; the message is the last output of the process."""


class ForkedServer:
    """A fork server, which is not a child of this process.

    Attributes:
        pid: its process id.
    """

    def __init__(self, pid: int, output: int) -> None:
        self.pid = pid
        self._output = open(output, "rb")  # noqa: SIM115 - `close` closes it
        self._end = os.pidfd_open(pid)

    def has_ended(self, patience: float) -> bool:
        """Whether it ends within this many seconds."""
        return self._end < 0 or bool(select.select([self._end], [], [], patience)[0])

    def kill(self) -> None:
        """End it, and all processes that it has forked."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._end, signal.SIGKILL)
        self.has_ended(patience=10.0)

    def said(self) -> str:
        """Its output; call this after its end."""
        return self._output.read().decode(errors="replace").strip()

    def close(self) -> None:
        """Close the files of this process."""
        self._output.close()
        if self._end >= 0:
            os.close(self._end)
        self._end = -1


class Zygote:
    """The client's side of the process from which fork servers are forked.

    Args:
        environment: the environment variables of that process.
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
        """Whether the process is running."""
        return self._process.poll() is None

    def fork(self, environment: Mapping[str, str], wire: socket.socket) -> ForkedServer:
        """Fork a server.

        Args:
            environment: the environment variables of the server.
            wire: its end of the socket for requests.

        Raises:
            NotForked: the process is gone, or did not start.
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
            raise NotForked(self._final_output())
        return ForkedServer(int(said), output)

    def _final_output(self) -> str:
        self._process.kill()
        return self._process.communicate()[0].decode(errors="replace").strip()

    def close(self) -> None:
        """End it, and all processes that were forked from it."""
        self._control.close()
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)


_alive: dict[tuple[int, str], Zygote] = {}
"""The running ones, by process id and environment; a forked copy of this process starts its own."""

_starting = threading.Lock()


def zygote(environment: Mapping[str, str]) -> Zygote:
    """The process for servers with that environment, which the first call starts."""
    key = os.getpid(), json.dumps(dict(environment), sort_keys=True)
    with _starting:
        found = _alive.get(key)
        if found is None or not found.is_alive():
            found = _alive[key] = Zygote(environment)
        return found


@atexit.register
def let_go() -> None:
    """End the processes that this process has started."""
    for pid, environment in list(_alive):
        found = _alive.pop((pid, environment))
        if pid == os.getpid():
            found.close()


# ------------------------------------------------------------------ inside that process


def main() -> None:
    """Import the common modules, then fork a server for each request."""
    control = socket.socket(fileno=int(sys.argv[1]))
    syscalls.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client handles Ctrl-C
    gc.disable()  # because imported objects stay alive
    importlib.import_module(sys.argv[2]).import_common()
    gc.freeze()  # without a collection, which would find little and delay the client
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that ended children leave no zombies
    while True:
        request, fds, _, _ = socket.recv_fds(control, MAX_ENVIRONMENT, 2)
        if not request:
            return
        pid = os.fork()
        if pid == 0:
            control.close()
            _run_server(json.loads(request), *fds)
        for number in fds:
            os.close(number)
        control.send(str(pid).encode())


def _run_server(environment: dict[str, str], wire: int, output: int) -> None:
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
