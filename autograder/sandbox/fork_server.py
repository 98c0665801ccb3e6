"""A process that has imported what is needed, and forks a boxed process for each request.

What runs in the boxes it is told by name: modules with an entry point. It runs no line of a
student's code itself. `main` is started by `client`, with a socket as its only way to the outside.

An entry is a module with these functions; the first two run in the fork server, before anything
untrusted is there:

* ``get_ready(config, blobs)`` imports what is needed, and returns what ``serve`` is given;
* ``configure(state, head, blobs)``, if it is there, takes in what is known only later;
* ``idle(state)``, if it is there, does a bit of work ahead, and says whether there is more;
* ``public(state)``, if it is there, returns bytes for whoever started the server;
* ``serve(state, wire)`` runs in the box.
"""

from __future__ import annotations

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
from typing import Any, NoReturn

from autograder.core.process_exit import ExitReason, ProcessExit
from autograder.sandbox import (
    cgroups,
    huge_pages,
    init_process,
    namespaces,
    resource_limits,
    seccomp,
    syscalls,
    temp_dirs,
)
from autograder.sandbox.resource_limits import Bounds
from autograder.sandbox.wire import Broken, receive, send

CONFIGURE, AHEAD = 0xFF, 0xFE
"""The request that is followed by a frame for the entries, and the one to work ahead from now on;
others are numbers of entries."""


SELDOM = 20_000, 100, 10
"""When a process looks for garbage in circles. A box lives for seconds, and most that it makes is
gone by itself. With five times as many objects at a time, each takes more than twice as long."""


@dataclass
class Entry:
    """What can be started in a box.

    Attributes:
        module: has the entry point.
        state: what it has got ready.
        limits: what one box may take.
        plan: what is seen in the box.
    """

    module: ModuleType
    state: Any
    limits: Bounds
    plan: namespaces.Plan


def main() -> None:
    """Get ready, then fork for each request until the client hangs up."""
    control = socket.socket(fileno=int(sys.argv[1]))
    sys.argv = [""]
    syscalls.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client decides what a Ctrl-C ends
    gc.disable()  # what is imported stays
    head, blobs = receive(control)
    states: dict[Callable[..., Any], Any] = {}  # entries that get ready alike share what they got
    entries = []
    for row in head["entries"]:
        module = importlib.import_module(row["module"])
        if module.get_ready not in states:
            states[module.get_ready] = module.get_ready(head["config"], blobs)
        entries.append(_entry(module, states[module.get_ready], row, head["covered"]))
    gc.freeze()  # so that forked processes share what is here; of garbage there is little
    gc.set_threshold(*SELDOM)
    gc.enable()
    os.environ["HOME"] = namespaces.HOME
    tempfile.tempdir = None
    os.environ |= {"TMPDIR": "/tmp", "TORCHINDUCTOR_CACHE_DIR": namespaces.COMPILED}
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
            _be_boxed(entries[request[0]], talk, word)
        talk.close()
        word.close()


def _entry(module: ModuleType, state: Any, row: dict[str, Any], covered: list[str]) -> Entry:
    limits = Bounds(**row["bounds"])
    plan = namespaces.plan(temp_dirs.root(), (namespaces.COURSE, *covered), limits.disk)
    return Entry(module, state, limits, plan)


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
    """Do what every box would otherwise do again, and make forks cheap, bit by bit."""
    yield from huge_pages.gather()
    for entry in entries:
        idle = getattr(entry.module, "idle", None)
        while idle and idle(entry.state):
            yield
    gc.freeze()
    yield from huge_pages.gather()


def _work_ahead(control: socket.socket, ahead: Iterator[None]) -> None:
    """While nobody asks for anything, do some of what there is to do."""
    while not select.select([control], [], [], 0)[0]:
        if next(ahead, ahead) is ahead:
            return


def _reap() -> None:
    """Bury the processes that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _print_to_nobody() -> None:
    """Standard output and errors lead nowhere from here on.

    Nobody reads the server's pipe once it is up: whoever fills it would wait until time is up.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def _be_boxed(entry: Entry, talk: socket.socket, word: socket.socket) -> NoReturn:
    """Become the process of one box; never returns."""
    try:
        syscalls.die_with_parent()
        _print_to_nobody()

        def work() -> None:
            resource_limits.apply_limits(entry.limits)
            seccomp.refuse_calls()
            entry.module.serve(entry.state, talk)

        group = cgroups.Cgroup.for_box(entry.limits)
        namespaces.unshare_all()
        inner = os.fork()
        if inner == 0:
            syscalls.die_with_parent()
            if group is not None:
                group.add(0)  # this process
            namespaces.enter(entry.plan)
            init_process.supervise(work, word, entry.limits, group)
        talk.close()
        word.close()
        os.waitpid(inner, 0)
        if group is not None:
            group.kill()
            group.remove()
    except BaseException as error:
        try:
            word.sendall(
                ProcessExit(ExitReason.NO_BOX, str(error).replace("\n", " ")).line().encode()
            )
        except OSError:
            pass
    finally:
        os._exit(0)
