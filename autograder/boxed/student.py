"""The student's process: runs the cells that arrive over the wire, and tries answers.

After the first cell, nothing here can be trusted: a student's code may change anything in its own
process. The judge validates all messages from here.

At each check the process forks, and the child waits with the answer in its present state. Answers
are tried in these children after the last cell, so that nothing that a trial sees reaches a cell. A
case arrives when it is needed: a number, and the function that builds it.
"""

from __future__ import annotations

import io
import os
import pickle
import random
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import torch

from autograder.boxed import preload
from autograder.boxed.shell import Record, Shell, take_streams
from autograder.core.limits import Limits, OutOfTime, time_limit
from autograder.core.outcome import Outcome
from autograder.runner import Answer, run_trial
from autograder.sandbox.resource_limits import room_for_more
from autograder.sandbox.wire import MAX_OUTPUTS, Broken, receive, send

get_ready, configure = preload.get_ready, preload.configure


class NotebookProcess:
    """The process that runs one notebook.

    Args:
        shell: runs the cells.
        record: records their outputs.
        wire: the socket on which steps arrive.
    """

    def __init__(self, shell: Shell, record: Record, wire: socket.socket) -> None:
        self.shell, self.record, self.wire = shell, record, wire
        self.answer: Answer | None = None
        """The answer that is tried in this process, once there is one."""

    def serve(self) -> None:
        """Do steps until the judge closes the socket."""
        take_streams(self.record)
        sys.path.append("")  # for files next to the notebook; last, so that they shadow no package
        self._work()

    def _work(self) -> None:
        steps: dict[str, Callable[..., None]] = {
            "files": self.files,
            "run": self.run,
            "park": self.park,
            "ready": self.ready,
            "case": self.case,
        }
        while True:
            try:
                head, blobs = receive(self.wire, largest=MAX_OUTPUTS)  # a cell may be long
            except Broken:
                return
            what = head.pop("do")
            try:
                steps[what](blobs, **head)
            except Broken:
                return
            except Exception as error:  # most likely a cell has changed this process
                why = f"{type(error).__name__}: {error}"[:500]
                send(self.wire, {"done": what, "state": "broken", "why": why})

    def files(self, blobs: list[bytes], names: list[str]) -> None:
        """Write the files next to the notebook to the working directory."""
        for name, blob in zip(names, blobs, strict=True):
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(blob)
        send(self.wire, {"done": "files"})

    def run(self, _: list[bytes], source: str, cpu: float, wall: float, bare: bool = False) -> None:
        """Run a cell; if it is `bare`, keep only its errors."""
        self.record.begin(bare=bare)
        try:
            with time_limit(Limits(cpu=cpu, wall=wall)) as self.shell.clock:
                error = self._run(source)
                late = self.shell.clock.is_over()
        except OutOfTime as found:  # raised outside the student's own code
            error, late = found, True
        if late:
            error = OutOfTime("This cell used up its time.")
        if error is not None:
            self._tell(error)
        outputs, ended = self.record.outputs, "error" if error else "success"
        head = {"done": "run", "ended": ended, "outputs": outputs, "out_of_time": late}
        send(self.wire, head)

    def _run(self, source: str) -> BaseException | None:
        """Run a cell; return the exception that it raised."""
        result = self.shell.run_cell(source, store_history=True)
        return None if result.success else result.error_before_exec or result.error_in_exec

    def _tell(self, error: BaseException) -> None:
        """Record an error that the shell did not display, because cells can change its display."""
        if not any(row["output_type"] == "error" for row in self.record.outputs):
            self.record.fail(type(error), error, [])

    def park(self, _: list[bytes], name: str, wired: bool) -> None:
        """Set the answer of a name aside in its present state, in a forked process that waits.

        Args:
            name: the answer's name.
            wired: whether a socket for that process follows.
        """
        wire = _receive_socket(self.wire) if wired else None
        try:
            names = self.shell.user_ns
            if name not in names:
                send(self.wire, {"done": "park", "state": "undefined"})
                return
            answer = names[name]
            if not callable(answer):
                kind = type(answer).__name__
                send(self.wire, {"done": "park", "state": "not callable", "type": kind})
                return
            if wire is None:
                self.answer = answer
                _reset_settings()
            elif (child := _fork()) == 0:
                self._wait_for_cases(answer, wire)
            send(self.wire, {"done": "park", "state": "parked", "pid": child if wire else 0})
        finally:
            if wire is not None:
                wire.close()

    def _wait_for_cases(self, answer: Answer, wire: socket.socket) -> NoReturn:
        """Be the process in which an answer waits, and is tried."""
        try:
            self.wire.close()
            self.wire, self.answer = wire, answer
            signal.setitimer(signal.ITIMER_REAL, 0)
            _reset_settings()
            self._work()
        finally:
            os._exit(0)

    def ready(self, _: list[bytes]) -> None:
        """Report that nothing is left to do before a case arrives."""
        send(self.wire, {"done": "ready"})

    def case(self, blobs: list[bytes], number: int, kind: str, cpu: float, wall: float) -> None:
        """Try the answer on a case."""
        make = pickle.loads(blobs.pop())
        if self.answer is None:
            raise LookupError("no answer was set aside here")
        limits, label = Limits(cpu=cpu, wall=wall), f"case {number}"
        outcome = run_trial(kind, self.answer, make, label, limits=limits)
        send(self.wire, {"done": "case"}, [_as_bytes(outcome)])


def _fork() -> int:
    """Fork, as `os.fork`, even if a cell has started all processes that cells may start."""
    with room_for_more():
        return os.fork()


def _receive_socket(wire: socket.socket) -> socket.socket:
    """Receive the socket that follows on a wire."""
    _, fds, _, _ = socket.recv_fds(wire, 1, 1)
    return socket.socket(fileno=fds[0])


def _as_bytes(outcome: Outcome) -> bytes:
    stream = io.BytesIO()
    outcome.write(stream)
    return stream.getvalue()


def _reset_settings() -> None:
    """Reset settings that a cell may have changed, so that an answer runs as in a new kernel."""
    torch.set_num_threads(1)  # a forked process has lost its other threads, and would wait for them
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    if torch.are_deterministic_algorithms_enabled():
        torch.use_deterministic_algorithms(False)  # imports a compiler the first time
    random.seed(0)


def serve(state: preload.StudentState, wire: socket.socket) -> None:
    """Run one notebook."""
    NotebookProcess(state.shell, state.record, wire).serve()
