"""A process that has imported what chapters import, and forks one process for each notebook.

It runs no line of a student's code itself. `main` is started by `worker`, with a socket as its
only way to the outside.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import socket
import sys
import tempfile
from typing import Any, NoReturn

from autograder.sandbox import bounds, calls, keeper, linux, shell, shorn, standin, student, walls
from autograder.sandbox.bounds import Bounds

_ALWAYS = (
    "autograder.given", "autograder.show.card", "autograder.show.draw", "autograder.show.hints",
    "autograder.show.display", "autograder.show.page", "autograder.show.picture",
    "autograder.show.shapes", "autograder.show.late",
)  # fmt: skip


def main() -> None:
    """Get warm, then fork for each request until the grader hangs up."""
    control = socket.socket(fileno=int(sys.argv[1]))
    wanted = json.loads(sys.argv[2])
    sys.argv = [""]
    if sys.platform == "linux":
        linux.die_with_parent()
    started = _get_ready(wanted)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the grader decides what a Ctrl-C ends
    limits = Bounds(**wanted["bounds"])
    with tempfile.TemporaryDirectory(prefix="fxcourse-root-", ignore_cleanup_errors=True) as root:
        # Not cleaned up by forked processes: they never get to the end of this block.
        plan = walls.plan(root, (shorn.PACKAGE, *wanted["covered"]), limits.disk)
        control.sendall(b"\1")
        while True:
            request, wires, _, _ = socket.recv_fds(control, 1, 2)
            _reap()
            if not request:
                return
            talk, word = (socket.socket(fileno=number) for number in wires)
            if os.fork() == 0:
                control.close()
                _be_notebook(talk, word, plan, limits, started, boxed=wanted["boxed"])
            talk.close()
            word.close()


def _get_ready(wanted: dict[str, Any]) -> tuple[Any, ...]:
    """Import what the chapter's cells will import, and forget what they must not find."""
    made, record = shell.make_shell()
    for name in (*_ALWAYS, *wanted["imports"]):
        try:
            importlib.import_module(name)
        except Exception:  # a cell that imports it will say so
            continue
    _warm_up_plots()
    exercises = shorn.exercises_of(wanted["syllabus"], wanted["chapter"])
    for exercise in exercises.values():
        for case in exercise.cases[:1]:
            case.make(0)
    shorn.forget(wanted["syllabus"])
    standin.install(exercises)
    os.environ["HOME"] = walls.HOME
    os.environ.pop("PYTHONPATH", None)
    gc.freeze()  # so that forked processes share what is here
    return made, record, exercises


def _warm_up_plots() -> None:
    import matplotlib.pyplot as plt

    plt.figure().savefig(os.devnull, format="png")
    plt.close("all")


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
    *,
    boxed: bool,
) -> NoReturn:
    """Become the process of one notebook; never returns."""
    try:
        linux.die_with_parent()

        def work() -> None:
            bounds.take_on(limits)
            if boxed:
                calls.refuse_calls()
            student.serve(*started, talk)

        if not boxed:
            os.chdir(tempfile.mkdtemp(prefix="fxcourse-"))
            keeper.keep(work, word, limits)
        walls.separate()
        inner = os.fork()
        if inner == 0:
            linux.die_with_parent()
            walls.enclose(plan)
            keeper.keep(work, word, limits)
        talk.close()
        word.close()
        os.waitpid(inner, 0)
    except BaseException as error:
        try:
            word.sendall(f"no box: {error}".encode())
        except OSError:
            pass
    finally:
        os._exit(0)
