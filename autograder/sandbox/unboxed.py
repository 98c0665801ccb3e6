"""A process without a sandbox, for machines that have none.

It can do whatever the grading user can do. `client.SubprocessServer` starts it.

It inherits its end of the socket to the client, so no other user can connect instead. On Windows, a
process that the launcher of a virtual environment starts inherits no socket. There it connects to
the client, and sends a token first. It reads port and token from its standard input, because other
users can see a process's arguments.
"""

from __future__ import annotations

import contextlib
import hmac
import importlib
import os
import secrets
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping

from autograder.core.limits import SuspendAwareClock
from autograder.sandbox.wire import Broken, TooLate, receive, send

LOOK = 0.5
"""Seconds between two readings of the clock while the process connects."""

_COMMAND = [sys.executable, "-P", "-c", "from autograder.sandbox.unboxed import main; main()"]


def start(
    environment: Mapping[str, str], clock: SuspendAwareClock, patience: float
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a process that runs `main`.

    Args:
        environment: the environment variables of the process.
        clock: measures how long the process takes to connect.
        patience: seconds that it may take.

    Returns:
        The process, and this side's end of the socket to it.

    Raises:
        OSError: the process cannot be started.
        Broken: the process ended before it had connected.
        TooLate: the process did not connect in time.
    """
    if sys.platform == "win32":
        return start_and_accept(environment, clock, patience)
    ours, theirs = socket.socketpair()
    with theirs:
        number = theirs.fileno()
        try:
            process = _popen([*_COMMAND, str(number)], environment, subprocess.DEVNULL, (number,))
        except OSError:
            ours.close()
            raise
    return process, ours


def _popen(
    command: list[str], environment: Mapping[str, str], stdin: int, fds: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command, env=environment, stdin=stdin, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, pass_fds=fds,
    )  # fmt: skip


def start_and_accept(
    environment: Mapping[str, str], clock: SuspendAwareClock, patience: float
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a process that connects back, as Windows needs it; otherwise the same as `start`."""
    token = secrets.token_hex(16).encode()
    with socket.create_server(("127.0.0.1", 0)) as door:
        process = _popen(_COMMAND, environment, subprocess.PIPE)
        try:
            assert process.stdin is not None
            with process.stdin as told:
                told.write(b"%d %s\n" % (door.getsockname()[1], token))
            return process, accept(door, token, process.poll, clock, patience)
        except BaseException:
            process.kill()
            process.wait()
            raise


def accept(
    door: socket.socket,
    token: bytes,
    ended: Callable[[], int | None],
    clock: SuspendAwareClock,
    patience: float,
) -> socket.socket:
    """Return the first connection that begins with the token.

    Every user of the machine can connect. A peer that sends something else is disconnected, and a
    peer that sends nothing does not delay the others.

    Args:
        door: the listening socket.
        token: the secret.
        ended: returns the exit status of the process that should connect, or ``None``.
        clock: measures the time.
        patience: seconds until `TooLate`.

    Raises:
        Broken: the process has ended.
        TooLate: there is no such connection in time.
    """
    until = clock.now() + patience
    with contextlib.ExitStack() as peers:
        silent: set[socket.socket] = set()
        while clock.now() < until:
            if ended() is not None:
                raise Broken(f"its process ended with code {ended()}")
            for ready in select.select([door, *silent], [], [], LOOK)[0]:
                if ready is door:
                    silent.add(peers.enter_context(door.accept()[0]))
                    continue
                silent.remove(ready)
                if _says(ready, token):
                    # All other peers are closed.
                    return socket.socket(fileno=ready.detach())
                ready.close()
    raise TooLate


def _says(peer: socket.socket, token: bytes) -> bool:
    try:
        return hmac.compare_digest(peer.recv(len(token)), token)
    except OSError:
        return False


def main() -> None:
    """Connect to the client, get ready, and serve."""
    wire = _connect(sys.argv[1:])
    sys.argv = [""]
    head, blobs = receive(wire)
    entry = importlib.import_module(head["module"])
    state = entry.get_ready(head["config"], blobs)
    say = getattr(entry, "public", None)
    send(wire, {"ready": True}, [say(state) if say else b""])
    if head["more"]:
        entry.configure(state, *receive(wire))
    with tempfile.TemporaryDirectory(prefix="fxcourse-", ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        entry.serve(state, wire)
        os.chdir("/")


def _connect(arguments: list[str]) -> socket.socket:
    """Connect to the client.

    Args:
        arguments: the number of the inherited socket, or nothing if `start_and_accept` listens.
    """
    if arguments:
        wire = socket.socket(fileno=int(arguments[0]))
        wire.set_inheritable(False)  # the notebook's child processes must not get it
        return wire
    port, token = sys.stdin.buffer.readline().split()
    wire = socket.create_connection(("127.0.0.1", int(port)))
    wire.sendall(token)
    return wire
