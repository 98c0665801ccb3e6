"""Process 1 of the box: starts its first process, and ends everything with it.

It runs no line of a student's code, and cannot be reached from there. It ends when that process
does, when memory or time is used up, or when the client hangs up; with process 1, the kernel
ends every other process of its namespace.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import NoReturn

from autograder.core.limits import SuspendAwareClock, charged_wait
from autograder.core.process_exit import ExitReason, ProcessExit
from autograder.sandbox import syscalls
from autograder.sandbox.cgroups import Cgroup
from autograder.sandbox.resource_limits import SPARE, Bounds
from autograder.sandbox.usage import (
    Key,
    Look,
    Memory,
    ProcessorTime,
    Started,
    Waiting,
    look_at,
    queued,
    tasks_of,
)

EVERY = 0.1
"""Seconds between two looks."""

SOON = 0.02
"""Seconds between two looks while processes come and go."""


def supervise(
    start: Callable[[], None], word: socket.socket, bounds: Bounds, group: Cgroup | None = None
) -> NoReturn:
    """Let a process run, and say on `word` how it ended.

    Args:
        start: what the process does.
        word: a socket of which the process has no end; closed by the client, it ends everything.
            The number of a process ends that one; ``?`` asks how long the first process has
            waited for a processor, ``?17`` how long process 17 has.
        bounds: what all processes in the box may take together.
        group: the control group of the box, if it has one.
    """
    syscalls.set_undumpable()
    os.setsid()  # where the kernel shares processors among sessions, a box is one of them
    child = os.fork()
    if child == 0:
        syscalls.be_open()  # the keeper must see which memory is shared
        word.close()
        if group is not None:
            group.let_go()
        start()
        os._exit(0)
    try:
        ended = _watch(child, word, bounds, group)
        word.sendall(ended.line().encode())
    finally:
        os._exit(0)


def _watch(child: int, word: socket.socket, bounds: Bounds, group: Cgroup | None) -> ProcessExit:
    looked, awake = time.monotonic(), SuspendAwareClock()
    memory, started = Memory(child), Started()
    spent, waiting = ProcessorTime(free=int(bounds.cpu)), Waiting()
    crowd = Crowd(child, many=4 * bounds.processes)
    pause, buried = EVERY, 0.0
    while True:
        if select.select([word], [], [], pause)[0] and not _obeys(word, child):
            return ProcessExit(ExitReason.EXITED, "as nobody asks any more")
        code = _reap(child)
        if code is not None:
            return _why(code, group)
        now, passed = time.monotonic(), time.monotonic() - looked
        looked = now
        found, new = _processes(), started.since()
        looks = look_at(found)
        crowd.put_behind(looks, new)
        waiting.look({process: queued(process) for process in found})
        if charged_wait(awake.now(), waiting.total) > bounds.wall:
            return ProcessExit(ExitReason.OUT_OF_TIME)
        before, buried = buried, sum(os.times()[2:4])
        times = {process: look.times for process, look in looks.items()}
        moved = spent.look(times, buried - before, new, passed)
        pause = SOON if moved else EVERY
        if (spent.total if group is None else group.spent() or spent.total) > bounds.cpu:
            return ProcessExit(ExitReason.OUT_OF_TIME)
        if len(found) > bounds.processes + SPARE + 8:
            return ProcessExit(ExitReason.TOO_MANY_PROCESSES)
        if memory.exceeds(found, bounds.memory):
            return ProcessExit(ExitReason.OUT_OF_MEMORY)


def _obeys(word: socket.socket, child: int) -> bool:
    """Do what is said over `word`; whether anybody is there."""
    with contextlib.suppress(OSError):
        said = word.recv(1000)
        for line in said.split():
            if line.startswith(b"?"):
                process = int(line[1:]) if line[1:].isdigit() else child
                word.sendall(f"queued {queued(process):.3f}\n".encode())
            elif line.isdigit() and int(line) > 1:
                with contextlib.suppress(OSError):
                    os.kill(int(line), signal.SIGKILL)
        return bool(said)
    return False


def _why(code: int, group: Cgroup | None) -> ProcessExit:
    if code == -signal.SIGKILL and group is not None and group.ran_out():
        return ProcessExit(ExitReason.OUT_OF_MEMORY)
    return ProcessExit(ExitReason.EXITED, f"by signal {-code}" if code < 0 else f"with {code}")


def _reap(child: int) -> int | None:
    """Bury what has ended; the first process's exit code if it did, below 0 for a signal."""
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 0
        if ended == 0:
            return None
        if ended == child:
            return os.waitstatus_to_exitcode(status)


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]


class Crowd:
    """Puts behind what a box runs at the same time: together it weighs about half as much as one.

    One process that the first one waits for is not put behind. A process's children begin with
    its priority: where many come and go, the first process is put behind with them.

    Args:
        first: the process whose first thread keeps its priority otherwise.
        many: how many may be started before that.
    """

    def __init__(self, first: int, many: int) -> None:
        self._first, self._left = first, many
        self._nice: dict[int, int] = {}

    def put_behind(self, processes: dict[Key, Look], started: int) -> None:
        """Lower the priority of those that want to run, as far as there are many.

        Args:
            processes: those that are there, and what they show.
            started: how many were started since the last look.
        """
        self._left -= started
        tasks = [task for (number, _), look in processes.items() for task in _tasks(number, look)]
        wanting = [task for task, state in tasks if state == "R" and task != self._first]
        size = len(wanting)
        if self._left < 0:
            size, wanting = max(size, started), [task for task, _ in tasks]
        nice = niceness(size)
        for task in wanting:
            if nice > self._nice.get(task, 0):
                syscalls.put_behind(task, nice)
                self._nice[task] = nice
        alive = {task for task, _ in tasks}
        self._nice = {task: nice for task, nice in self._nice.items() if task in alive}


def niceness(size: int) -> int:
    """The priority at which so many processes weigh about half as much as one at the usual one.

    A processor's time is shared out by weights, and 1.25 is the kernel's own ratio between two
    priorities. What is above 19 runs when nobody else wants to.
    """
    return 0 if size < 2 else min(syscalls.IDLE, math.ceil(math.log(2 * size, 1.25)))


def _tasks(process: int, look: Look) -> list[tuple[int, str]]:
    """A process's threads, each with its state."""
    return [(process, look.state)] if look.threads == 1 else tasks_of(process)
