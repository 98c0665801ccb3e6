"""The student's process: runs cells as they come over the wire, and tries answers.

From the first cell on, nothing here can be relied upon: a student's code may change whatever it
reaches in its own process. What goes back over the wire is a claim.
"""

from __future__ import annotations

import io
import random
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from autograder.exercise import Case, Exercise, Trial
from autograder.limits import Limits, OutOfTime, time_limit
from autograder.outcome import Outcome
from autograder.run import run_cases
from autograder.sandbox.frames import Broken, receive, send
from autograder.sandbox.shell import Record, Shell, take_streams


class Desk:
    """Where one notebook is worked through.

    Args:
        shell: runs the cells.
        record: takes what they show.
        exercises: the exercises of the chapter, as this process may have them.
        wire: where the steps come from.
    """

    def __init__(
        self, shell: Shell, record: Record, exercises: Mapping[str, Exercise], wire: socket.socket
    ) -> None:
        self.shell, self.record, self.exercises, self.wire = shell, record, exercises, wire

    def serve(self) -> None:
        """Do step after step until the grader hangs up."""
        take_streams(self.record)
        sys.path.append("")  # files beside the notebook; they hide no package
        steps: dict[str, Callable[..., None]] = {
            "files": self.files,
            "run": self.run,
            "try": self.attempt,
        }
        while True:
            try:
                head, blobs = receive(self.wire)
            except Broken:
                return
            what = head.pop("do")
            try:
                steps[what](blobs, **head)
            except Broken:
                return
            except Exception as error:  # what a cell has done to this process, most likely
                why = f"{type(error).__name__}: {error}"[:500]
                send(self.wire, {"done": what, "state": "broken", "why": why})

    def files(self, blobs: list[bytes], names: list[str]) -> None:
        """Put the files beside the notebook into the working directory."""
        for name, blob in zip(names, blobs, strict=True):
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(blob)
        send(self.wire, {"done": "files"})

    def run(self, _: list[bytes], source: str, cpu: float, wall: float) -> None:
        """Run a cell."""
        self.record.begin()
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
        """Run a cell; what it raised."""
        result = self.shell.run_cell(source, store_history=True)
        return None if result.success else result.error_before_exec or result.error_in_exec

    def _tell(self, error: BaseException) -> None:
        """Show an error that the shell has not shown; cells can change how it shows them."""
        if not any(row["output_type"] == "error" for row in self.record.outputs):
            self.record.fail(type(error), error, [])

    def attempt(
        self, _: list[bytes], exercise: str, cpu: float, wall: float, seed: int, drawn: bool
    ) -> None:
        """Try an answer on the cases of its exercise, or on the random models of a seed."""
        names = self.shell.user_ns
        if exercise not in names:
            send(self.wire, {"done": "try", "state": "undefined"})
            return
        answer = names[exercise]
        if not callable(answer):
            kind = type(answer).__name__
            send(self.wire, {"done": "try", "state": "not callable", "type": kind})
            return
        asked = self.exercises[exercise]
        cases = asked.random.cases(seed) if drawn and asked.random else asked.cases
        _as_a_kernel_starts()
        outcomes = run_cases(asked, answer, self._telling(cases), limits=Limits(cpu=cpu, wall=wall))
        send(self.wire, {"done": "try", "state": "tried"}, [*map(_as_bytes, outcomes)])

    def _telling(self, cases: tuple[Case, ...]) -> tuple[Case, ...]:
        """The cases, made so that the grader knows which one an answer does not survive."""

        def told(case: Case) -> Case:
            def make(seed: int) -> Trial:
                send(self.wire, {"trying": case.name})
                return case.make(seed)

            return replace(case, make=make)

        return tuple(map(told, cases))


def _as_bytes(outcome: Outcome) -> bytes:
    stream = io.BytesIO()
    outcome.write(stream)
    return stream.getvalue()


def _as_a_kernel_starts() -> None:
    """Undo what a cell may have left switched: an answer is tried as in a kernel of its own."""
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.use_deterministic_algorithms(False)
    random.seed(0)


def serve(
    shell: Any, record: Record, exercises: Mapping[str, Exercise], wire: socket.socket
) -> None:
    """Work through one notebook."""
    Desk(shell, record, exercises, wire).serve()
