"""Answers that are set aside at their check, each in a process that was forked for it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from autograder.core.process_exit import ExitReason
from autograder.sandbox.client import Process

QUICK_STEP_SECONDS = 20.0
"""Seconds for a short step, such as setting an answer aside."""

SetAside = Literal["parked", "undefined", "not callable", "untried", "lost"]
"""The result of setting an answer aside."""


@dataclass
class Parked:
    """An answer that was set aside at its check.

    Attributes:
        state: ``"parked"``; or ``"undefined"``, ``"not callable"``, ``"untried"``, ``"lost"``.
        kind: type name of the object if it is not callable.
        child: the process in which it waits.
        pid: the number of that process in its sandbox.
        how: the end of its process.
        is_judged: whether it need not be set aside again.
    """

    state: SetAside
    kind: str = ""
    child: Process | None = None
    pid: int = 0
    how: ExitReason = ExitReason.EXITED
    is_judged: bool = False

    def close(self) -> None:
        """End the process."""
        if self.child is not None:
            self.child.close()
        self.child = None


def set_aside(
    process: Process, name: str, meanwhile: Callable[[], bool], *, can_fork: bool
) -> Parked:
    """Set an answer aside in its present state.

    Args:
        process: the notebook's process.
        name: the answer's name.
        meanwhile: called while the process is at work.
        can_fork: whether the answer can wait in a forked child.

    Raises:
        ProcessLost: that ended the process.
    """
    step = {"do": "park", "name": name, "wired": can_fork}
    if not can_fork:
        head, _ = process.step(step, patience=QUICK_STEP_SECONDS)
        return _parked(head, None, process)
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            head, _ = process.step(
                step, patience=QUICK_STEP_SECONDS, hand_over=(theirs,), meanwhile=meanwhile
            )
        except BaseException:
            ours.close()
            raise
    parked = _parked(head, ours, process)
    if parked.child is None:
        ours.close()
    else:  # otherwise the scheduler would defer many processes that start at once
        parked.child.step({"do": "ready"}, patience=QUICK_STEP_SECONDS)
    return parked


def _parked(head: dict[str, Any], talk: socket.socket | None, process: Process) -> Parked:
    """The answer that a notebook's process has set aside.

    Args:
        head: the message of that process.
        talk: the socket to the process in which the answer waits; without one, the answer waits in
            the notebook's own process.
        process: the notebook's own.
    """
    state, kind, pid = head.get("state"), head.get("type"), head.get("pid")
    if state == "parked":
        number = pid if type(pid) is int and pid > 1 else 0
        queued = partial(process.queued_of, number)
        child = process if talk is None else Process(talk, None, queued=queued)
        return Parked("parked", child=child, pid=number)
    if state == "undefined":
        return Parked("undefined")
    if state == "not callable":
        return Parked("not callable", kind=kind if isinstance(kind, str) else "")
    return Parked("untried")
