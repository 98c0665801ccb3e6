"""The supervisor of a sandbox: starts the first process, and ends everything with it.

It never runs a student's code, and that code cannot reach it. It ends when the first process ends,
when memory or time is used up, or when the client closes its socket. With namespaces it is process
1, and the kernel then ends every other process. With Landlock, its parent does.
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
from autograder.sandbox.processes import Processes
from autograder.sandbox.resource_limits import SPARE, Bounds
from autograder.sandbox.usage import (
    Key,
    Look,
    Memory,
    ProcessorTime,
    Waiting,
    look_at,
    queued,
    tasks_of,
)

EVERY = 0.1
"""Seconds between two reads of the sandbox's usage."""

SOON = 0.02
"""Seconds between two reads while processes start and end."""


def supervise(
    start: Callable[[], None],
    word: socket.socket,
    bounds: Bounds,
    processes: Processes,
    group: Cgroup | None = None,
) -> NoReturn:
    """Run a process, and report its end on `word`.

    Args:
        start: the work of the process.
        word: a socket that the process does not get; everything ends when the client closes it. The
            client sends the number of a process to end that process, ``?`` for the seconds that the
            first process has waited for a processor, or ``?17`` for those of process 17.
        bounds: the limits of all processes in the sandbox together.
        processes: the sandbox's processes.
        group: the control group of the sandbox, if it has one.
    """
    syscalls.set_undumpable()
    os.setsid()  # the kernel may share processors among sessions, so a sandbox is one session
    child = os.fork()
    if child == 0:
        syscalls.be_open()  # the supervisor must see which memory is shared
        word.close()
        if group is not None:
            group.let_go()
        start()
        os._exit(0)
    try:
        ended = _watch(child, word, bounds, processes, group)
        word.sendall(ended.line().encode())
    finally:
        os._exit(0)


def _watch(
    child: int, word: socket.socket, bounds: Bounds, processes: Processes, group: Cgroup | None
) -> ProcessExit:
    looked, awake = time.monotonic(), SuspendAwareClock()
    memory = Memory(child, processes.sockets)
    spent, waiting = ProcessorTime(free=int(bounds.cpu)), Waiting()
    crowd = Crowd(child, many=4 * bounds.processes)
    pause, buried = EVERY, 0.0
    while True:
        if select.select([word], [], [], pause)[0] and not _follow_client(word, child, processes):
            return ProcessExit(ExitReason.EXITED, "as nobody asks any more")
        code = _reap(child)
        if code is not None:
            return _exit_of(code, group)
        now, passed = time.monotonic(), time.monotonic() - looked
        looked = now
        found, new = processes.found(), processes.started()
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
        if memory.exceeds(found, bounds.memory) or processes.has_too_many_locks(found):
            return ProcessExit(ExitReason.OUT_OF_MEMORY)
        if processes.has_filled_disk(found, bounds.disk):
            return ProcessExit(ExitReason.OUT_OF_DISK)


def _follow_client(word: socket.socket, child: int, processes: Processes) -> bool:
    """Follow the client's instructions on `word`; return whether the client is still there."""
    with contextlib.suppress(OSError):
        said = word.recv(1000)
        for line in said.split():
            if line.startswith(b"?"):
                process = int(line[1:]) if line[1:].isdigit() else child
                word.sendall(f"queued {queued(process):.3f}\n".encode())
            elif line.isdigit() and int(line) in processes.found():  # a claim names the number
                with contextlib.suppress(OSError):
                    os.kill(int(line), signal.SIGKILL)
        return bool(said)
    return False


def _exit_of(code: int, group: Cgroup | None) -> ProcessExit:
    if code == -signal.SIGKILL and group is not None and group.ran_out():
        return ProcessExit(ExitReason.OUT_OF_MEMORY)
    return ProcessExit(ExitReason.EXITED, f"by signal {-code}" if code < 0 else f"with {code}")


def _reap(child: int) -> int | None:
    """Wait for ended children; return the first process's exit code, below 0 for a signal."""
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 0
        if ended == 0:
            return None
        if ended == child:
            return os.waitstatus_to_exitcode(status)


class Crowd:
    """Lowers the priority of concurrent processes: together they weigh about half as much as one.

    A single process that the first one waits for keeps its priority. A child inherits the priority
    of its parent. So if many processes start and end, the first process gets a lower priority, too.

    Args:
        first: the process whose first thread otherwise keeps its priority.
        many: number of processes that may start before that.
    """

    def __init__(self, first: int, many: int) -> None:
        self._first, self._left = first, many
        self._nice: dict[int, int] = {}

    def put_behind(self, processes: dict[Key, Look], started: int) -> None:
        """Lower the priority of the runnable threads if there are many.

        Args:
            processes: the living processes, and their state.
            started: number of processes started since the last call.
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
    """The priority at which this many processes together weigh about half as much as a usual one.

    The kernel shares a processor by weights, whose ratio between two neighboring priorities is
    1.25. A priority above 19 stands for one that runs only when no other process wants to.
    """
    return 0 if size < 2 else min(syscalls.IDLE, math.ceil(math.log(2 * size, 1.25)))


def _tasks(process: int, look: Look) -> list[tuple[int, str]]:
    """A process's threads, each with its state."""
    return [(process, look.state)] if look.threads == 1 else tasks_of(process)
