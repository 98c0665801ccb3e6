"""Process 1 of the box: starts the student's process, and ends everything with it.

It runs no line of a student's code, and cannot be reached from there. It ends when that process
does, when memory or time is used up, or when the grader hangs up; with process 1, the kernel
ends every other process of its namespace.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from autograder.sandbox import linux
from autograder.sandbox.bounds import Bounds

EVERY = 0.1
"""Seconds between two looks."""

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def keep(start: Callable[[], None], word: socket.socket, bounds: Bounds) -> NoReturn:
    """Let a student's process run, and say on `word` how it ended.

    Args:
        start: what the student's process does.
        word: a socket of which the student's process has no end; closed by the grader, it
            ends everything.
        bounds: what all processes in the box may take together.
    """
    linux.be_opaque()
    child = os.fork()
    if child == 0:
        word.close()
        start()
        os._exit(0)
    try:
        ended = _watch(child, word, bounds)
        word.sendall(ended.encode())
    finally:
        os._exit(0)


def _watch(child: int, word: socket.socket, bounds: Bounds) -> str:
    began = time.monotonic()
    usual = _resident(child)
    while True:
        if select.select([word], [], [], EVERY)[0]:
            return "hung up"
        status = _reap(child)
        if status is not None:
            return status
        found = _processes()
        if time.monotonic() - began > bounds.wall:
            return "out of time"
        if sum(map(_seconds, found)) + sum(os.times()[2:4]) > bounds.cpu:
            return "out of time"
        if len(found) > bounds.processes + 8:
            return "too many processes"
        if _takes_too_much(found, usual, bounds.memory):
            return "out of memory"


def _reap(child: int) -> str | None:
    """Bury what has ended; how the student's process ended, if it did."""
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return "ended"
        if ended == 0:
            return None
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            return f"ended by signal {-code}" if code < 0 else f"ended with {code}"


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def _takes_too_much(processes: list[int], usual: int, most: int) -> bool:
    # Pages that forked processes share count for each of them here; only where that is too
    # much is it worth the time to ask how they are shared.
    above = sum(max(0, _resident(process) - usual) for process in processes)
    if above <= most:
        return False
    return sum(map(_share, processes)) - usual > most


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _share(process: int) -> int:
    """A process's memory; what is shared by several counts in parts."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return _resident(process)
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _seconds(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / _TICKS
    except (OSError, IndexError):
        return 0.0
