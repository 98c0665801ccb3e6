"""A process that has imported what chapters import, and forks one process for each notebook.

It runs no line of a student's code itself. `main` is started by `worker`, with a socket as its
only way to the outside.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import tempfile
from typing import Any, NoReturn

from autograder.sandbox import (
    bounds,
    calls,
    cgroups,
    frames,
    keeper,
    linux,
    ready,
    scratch,
    student,
    walls,
)
from autograder.sandbox.bounds import Bounds


def main() -> None:
    """Get warm, then fork for each request until the grader hangs up."""
    control = socket.socket(fileno=int(sys.argv[1]))
    wanted, _ = frames.receive(control)
    sys.argv = [""]
    linux.die_with_parent()
    started = ready.get_ready(wanted)
    gc.freeze()  # so that forked processes share what is here
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the grader decides what a Ctrl-C ends
    limits = Bounds(**wanted["bounds"])
    os.environ["HOME"] = walls.HOME
    tempfile.tempdir = None
    os.environ |= {"TMPDIR": "/tmp", "TORCHINDUCTOR_CACHE_DIR": walls.COMPILED}
    plan = walls.plan(scratch.root(), (walls.COURSE, *wanted["covered"]), limits.disk)
    cgroups.home_of_boxes()
    control.sendall(b"\1")
    while True:
        request, wires, _, _ = socket.recv_fds(control, 1, 2)
        _reap()
        if not request:
            return
        talk, word = (socket.socket(fileno=number) for number in wires)
        if os.fork() == 0:
            control.close()
            _be_notebook(talk, word, plan, limits, started)
        talk.close()
        word.close()


def _reap() -> None:
    """Bury the processes that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _be_notebook(
    talk: socket.socket,
    word: socket.socket,
    plan: walls.Plan,
    limits: Bounds,
    started: tuple[Any, ...],
) -> NoReturn:
    """Become the process of one notebook; never returns."""
    try:
        linux.die_with_parent()

        def work() -> None:
            bounds.take_on(limits)
            calls.refuse_calls()
            student.serve(*started, talk)

        group = cgroups.Cgroup.for_box(limits)
        walls.separate()
        inner = os.fork()
        if inner == 0:
            linux.die_with_parent()
            if group is not None:
                group.add(0)  # this process
            walls.enclose(plan)
            keeper.keep(work, word, limits, group)
        talk.close()
        word.close()
        os.waitpid(inner, 0)
        if group is not None:
            group.kill()
            group.remove()
    except BaseException as error:
        try:
            word.sendall(f"no box: {error}".encode())
        except OSError:
            pass
    finally:
        os._exit(0)
