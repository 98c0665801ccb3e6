"""A process that has imported the modules needed, and forks a sandboxed process for each request.

The client names the modules to run, each with an entry point. The fork server itself never runs a
student's code. `client` starts `main` with a socket, which is its only connection.

An entry is a module with these functions. All but ``serve`` run in the fork server, which contains
nothing untrusted; the optional ones may be missing:

* ``get_ready(config, blobs)`` imports the modules needed, and returns the state for ``serve``;
* ``configure(state, head, blobs)``, optional, takes data that the client has only later;
* ``idle(state)``, optional, does one piece of work ahead, and returns whether there is more;
* ``public(state)``, optional, returns bytes for the client;
* ``serve(state, wire)`` runs in the sandbox.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NoReturn, Protocol

from autograder.core.process_exit import ExitReason, ProcessExit
from autograder.sandbox import (
    cgroups,
    huge_pages,
    init_process,
    landlock,
    namespaces,
    resource_limits,
    seccomp,
    syscalls,
    temp_dirs,
)
from autograder.sandbox.processes import Processes
from autograder.sandbox.resource_limits import Bounds
from autograder.sandbox.wire import Broken, receive, send

CONFIGURE, AHEAD = 0xFF, 0xFE
"""Requests: data for the entries follows in a frame; work ahead from now on. Any other number is
the index of an entry to start."""


SELDOM = 20_000, 100, 10
"""GC thresholds of sandboxed processes. They live for seconds, and reference counting frees most of
their objects. With a first threshold five times as high, each takes more than twice as long."""


class Wall(Protocol):
    """A module that isolates a sandbox: `namespaces` or `landlock`."""

    ENVIRONMENT: dict[str, str]
    IMPORTS: tuple[str, ...]
    SHARED: bool

    def leave(self, plan: namespaces.Plan, /) -> namespaces.Plan:
        """Prepare the process that waits for the sandbox's end; return the plan to use."""

    def enter(self, plan: namespaces.Plan, /) -> None:
        """Move the supervisor into the sandbox."""

    def close_in(self, plan: namespaces.Plan, /) -> None:
        """Limit the first process, which will run untrusted code, and its children."""

    def processes(self, plan: namespaces.Plan, /) -> Processes:
        """The processes of the sandbox, as its supervisor sees them."""

    def clear(self, plan: namespaces.Plan, /) -> None:
        """End and remove what is left."""


WALLS: dict[str, Wall] = {"namespaces": namespaces, "landlock": landlock}


@dataclass
class Entry:
    """A module that can be started in a sandbox.

    Attributes:
        module: the module with the entry point.
        state: the result of its `get_ready`.
        limits: the resources that one sandbox may use.
        plan: the files that are visible in the sandbox.
        wall: the module that isolates it: `namespaces` or `landlock`.
    """

    module: ModuleType
    state: Any
    limits: Bounds
    plan: namespaces.Plan
    wall: Wall


def main() -> None:
    """Prepare the entries, then fork for each request until the client closes the socket."""
    control = socket.socket(fileno=int(sys.argv[1]))
    sys.argv = [""]
    syscalls.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client handles Ctrl-C
    gc.disable()  # because imported objects stay alive
    head, blobs = receive(control)
    wall: Wall = WALLS[head["wall"]]
    states: dict[Callable[..., Any], Any] = {}  # entries with the same `get_ready` share its result
    entries = []
    for row in head["entries"]:
        module = importlib.import_module(row["module"])
        if module.get_ready not in states:
            states[module.get_ready] = module.get_ready(head["config"], blobs)
        entries.append(_entry(module, states[module.get_ready], row, head["covered"], wall))
    for name in wall.IMPORTS:
        with contextlib.suppress(ImportError):  # it is optional
            importlib.import_module(name)
    gc.freeze()  # shares these objects with forked processes; imports leave little garbage
    gc.set_threshold(*SELDOM)
    gc.enable()
    tempfile.tempdir = None
    os.environ |= wall.ENVIRONMENT
    cgroups.home_of_boxes()
    send(control, {"ready": True}, [_public(entry) for entry in entries])
    ahead: Iterator[None] = iter(())
    while True:
        _work_ahead(control, ahead)
        request, wires, _, _ = socket.recv_fds(control, 1, 2)
        _reap()
        if not request:
            return
        if request[0] == CONFIGURE:
            _configure(control, entries)
            continue
        if request[0] == AHEAD:
            ahead = _ahead(entries)
            continue
        talk, word = (socket.socket(fileno=number) for number in wires)
        if os.fork() == 0:
            control.close()
            _run_sandboxed(entries[request[0]], talk, word)
        talk.close()
        word.close()


def _entry(
    module: ModuleType, state: Any, row: dict[str, Any], covered: list[str], wall: Wall
) -> Entry:
    limits = Bounds(**row["bounds"])
    plan = namespaces.plan(temp_dirs.root(), (namespaces.COURSE, *covered), limits.disk)
    return Entry(module, state, limits, plan, wall)


def _public(entry: Entry) -> bytes:
    say = getattr(entry.module, "public", None)
    return say(entry.state) if say else b""


def _configure(control: socket.socket, entries: list[Entry]) -> None:
    try:
        head, blobs = receive(control)
    except Broken:
        return
    for entry in {id(entry.state): entry for entry in entries}.values():
        take = getattr(entry.module, "configure", None)
        if take:
            take(entry.state, head, blobs)
    gc.freeze()
    send(control, {"ready": True})


def _ahead(entries: list[Entry]) -> Iterator[None]:
    """Do work that every sandbox would otherwise repeat, and make forks cheap, piece by piece."""
    yield from huge_pages.gather()
    for entry in entries:
        idle = getattr(entry.module, "idle", None)
        while idle and idle(entry.state):
            yield
    gc.freeze()
    yield from huge_pages.gather()


def _work_ahead(control: socket.socket, ahead: Iterator[None]) -> None:
    """Work ahead until a request arrives."""
    while not select.select([control], [], [], 0)[0]:
        if next(ahead, ahead) is ahead:
            return


def _reap() -> None:
    """Collect the exit status of child processes that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _print_to_nobody() -> None:
    """Redirect standard output and errors to the null device.

    The client does not read the server's pipe after the start, so a full pipe would block its
    writer.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def _run_sandboxed(entry: Entry, talk: socket.socket, word: socket.socket) -> NoReturn:
    """Become the process of one sandbox; never returns."""
    wall, plan = entry.wall, entry.plan
    try:
        syscalls.die_with_parent()
        _print_to_nobody()

        def work() -> None:
            resource_limits.apply_limits(entry.limits, shared=wall.SHARED)
            wall.close_in(plan)
            seccomp.refuse_calls(shared=wall.SHARED)
            entry.module.serve(entry.state, talk)

        group = cgroups.Cgroup.for_box(entry.limits)
        plan = wall.leave(plan)
        inner = os.fork()
        if inner == 0:
            try:
                syscalls.die_with_parent()
                if group is not None:
                    group.add(0)  # this process
                wall.enter(plan)
                processes = wall.processes(plan)
                init_process.supervise(work, word, entry.limits, processes, group)
            except BaseException as error:
                _report(word, error)
            finally:
                os._exit(0)
        talk.close()
        word.close()
        try:
            os.waitpid(inner, 0)
        finally:
            if group is not None:
                group.kill()
                group.remove()
            wall.clear(plan)
    except BaseException as error:
        _report(word, error)
    finally:
        os._exit(0)


def _report(word: socket.socket, error: BaseException) -> None:
    """Tell the client why there is no sandbox."""
    with contextlib.suppress(OSError):
        said = str(error).replace("\n", " ")
        word.sendall(ProcessExit(ExitReason.NO_BOX, said).line().encode())
