"""Runs the cells of a notebook in a process, and in a new one if a cell ends or blocks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nbformat.notebooknode import NotebookNode

from autograder.boxed.notebook_cells import NotebookCells, as_outputs, is_failed, matters, note
from autograder.boxed.parked_answers import QUICK_STEP_SECONDS, Parked, set_aside
from autograder.boxed.process_source import ProcessSource
from autograder.core.limits import CLOCK
from autograder.core.process_exit import ExitReason, ProcessExit
from autograder.sandbox.client import Process, ProcessLost
from autograder.sandbox.wire import MAX_OUTPUTS
from autograder.submission.contract import Timeouts
from autograder.submission.sanitize import clean_outputs, taken_ids

MOST_CELLS = 2_000
"""Number of cells of a notebook that are run, at most."""

MAX_UNRESPONSIVE = 3
"""Number of times that a notebook's process may be lost although it has not ended, because it does
not answer, or sends something else. Each time takes as long as a cell may run, and the cause may be
another cell than the running one."""

_USED_UP = (
    ExitReason.OUT_OF_MEMORY, ExitReason.OUT_OF_TIME, ExitReason.OUT_OF_DISK,
    ExitReason.TOO_MANY_PROCESSES,
)  # fmt: skip
"""Ends that mean that a process has used up a resource."""

ANSWER_GRACE_SECONDS = 5.0
"""Seconds after its time is over in which a process may still answer."""


class NotebookProcess:
    """The process of a notebook, and the children in which its answers are set aside.

    Args:
        cells: the notebook's cells.
        supply: the source of processes.
        timeouts: the time that it may take.
        files: the files next to the notebook.
        warn: called with each sentence about a problem of the notebook.
        meanwhile: called while the process is at work.
    """

    def __init__(
        self,
        cells: NotebookCells,
        supply: ProcessSource,
        timeouts: Timeouts,
        files: Mapping[str, bytes],
        warn: Callable[[str], None],
        meanwhile: Callable[[], bool],
    ) -> None:
        self.cells, self.supply, self.timeouts, self.files = cells, supply, timeouts, files
        self._warn, self._meanwhile = warn, meanwhile
        self.ends: list[ExitReason] = []
        """The reasons for which processes of this notebook ended too early."""
        self.restarts = -1
        """The number of processes started after the first."""
        self.parked: dict[int, Parked] = {}
        """The answers that were set aside, by the number of their check."""
        self.late: set[int] = set()
        """Checks whose answers are defined below them."""
        self.seals = False
        """Whether an answer of this notebook has been tried on a hidden case."""
        self.deadline = 0.0
        """The end of the notebook's time, on `CLOCK`."""
        self._process: Process | None = None
        self._taken = taken_ids(cells.nb)
        self._used = self._unresponsive = 0
        self._gave_up: int | None = None  # the cell at which no more processes were allowed
        self._barred: set[int] = set()  # cells that a new process must not run
        self._hungry: set[int] = set()  # cells that ran out of memory, and may still occupy it

    @property
    def process(self) -> Process:
        """The process.

        Raises:
            ProcessLost: no process is running.
        """
        if self._process is None:
            raise ProcessLost(ProcessExit(ExitReason.EXITED))
        return self._process

    def is_open(self) -> bool:
        """Whether cells can still be run, and answers tried."""
        if self._process is not None and CLOCK.now() > self.deadline:
            self._warn(f"The notebook took longer than {self.timeouts.notebook:g} seconds.")
            self.ends.append(ExitReason.OUT_OF_TIME)
            self.stop()
        return self._process is not None

    def ended(self) -> ProcessExit | None:
        """The end of the process; ``None`` while it runs."""
        return ProcessExit(ExitReason.EXITED) if self._process is None else self._process.ended(0.5)

    def lose(self, what: str, lost: ProcessLost) -> None:
        """Record that a process was lost."""
        self.ends.append(lost.ending.end)
        self._unresponsive += lost.ending.end in (ExitReason.UNRESPONSIVE, ExitReason.OUT_OF_TIME)
        how = lost.ending.end if self.seals else lost.ending  # an exit code could leak a case
        self._warn(f"{what} ended or blocked Python ({how}).")

    def start(self) -> None:
        """Start a process, and give it the files."""
        self._used += 1
        self.restarts += 1
        self._process = self.supply.process("student")
        if self.files:
            step = {"do": "files", "names": list(self.files)}
            self.process.step(step, list(self.files.values()), patience=QUICK_STEP_SECONDS)

    def stop(self) -> None:
        """End the process, and those that were forked from it."""
        for parked in self.parked.values():
            if self.supply.can_fork:
                parked.close()
        if self._process is not None:
            self._process.close()
        self._process = None

    def restart(self, before: int) -> None:
        """Start a new process, and run the cells before this one in it.

        Answers that were set aside, and still have to be tried, are set aside again.
        """
        while True:
            self.stop()
            if self._used >= self.timeouts.restarts or self._unresponsive >= MAX_UNRESPONSIVE:
                self._warn(f"The notebook used up {self._used} processes; the rest is not run.")
                self._gave_up = before
                return
            try:
                self.start()
                lost_at = self._replay(before)
            except ProcessLost as lost:  # writing the files next to the notebook failed
                self.lose("The notebook's folder", lost)
                continue
            if lost_at is None:
                return
            self._barred.add(lost_at)

    def give_a_last_one(self) -> None:
        """If cells have used up all processes, start one more for the answers above them."""
        if self._process is None and self._gave_up is not None and self.supply.can_fork:
            self._used -= 1
            self._unresponsive -= 1
            self.restart(self._gave_up)

    def _replay(self, before: int) -> int | None:
        """Run earlier cells again; return the one that ended the process, if any.

        Answers that are defined late are set aside after all cells, as before.
        """
        early = (index for index in range(before) if index not in self.late)
        for index in (*early, *sorted(self.late)):
            if self.cells[index].cell_type != "code" or index in self._barred:
                continue
            if not self.is_open():
                return None
            try:
                if self.cells.checked(index) is None:
                    self._step(self.cells[index])
                elif self.supply.can_fork and self._waits(index):
                    self.parked[index] = self._set_aside(index)
            except ProcessLost as lost:
                self.lose(f"Cell {index + 1}, run again,", lost)
                return index
        return None

    def _waits(self, index: int) -> bool:
        """Whether an answer was set aside, and still has to be tried."""
        parked = self.parked.get(index)
        return parked is not None and parked.state == "parked" and not parked.is_judged

    # ------------------------------------------------------------------ cells

    def run_cell(self, index: int) -> None:
        """Run one cell as the student wrote it."""
        cell = self.cells[index]
        if cell.cell_type != "code" or not cell.source.strip():
            return
        if index >= MOST_CELLS:
            note(cell, "NotRun", f"This cell was not run: only the first {MOST_CELLS:,} are.")
            return
        if not self.is_open():
            note(cell, "NotRun", "This cell was not run: the notebook had used up what it may use.")
            return
        try:
            head = self._step(cell)
        except ProcessLost as lost:
            self._give_up(index, lost)
        else:
            self._keep_outputs(index, head)

    def _step(self, cell: NotebookNode) -> dict[str, Any]:
        times = self.timeouts
        step = {"do": "run", "source": cell.source, "bare": not matters(cell)}
        step |= {"cpu": times.cell_cpu, "wall": times.cell_wall}
        patience = times.cell_wall + ANSWER_GRACE_SECONDS
        return self.process.step(
            step, patience=patience, largest=MAX_OUTPUTS, meanwhile=self._meanwhile
        )[0]

    def _give_up(self, index: int, lost: ProcessLost) -> None:
        """Continue in a new process, without the cell that ended this one or caused its end."""
        self.lose(f"Cell {index + 1}", lost)
        if self._quarantine_memory_hogs(lost):
            self.restart(index)
            self.run_cell(index)
            return
        self._barred.add(index)
        note(
            self.cells[index],
            "ProcessEnded",
            "This cell ended or blocked Python. The cells above it were run again "
            "without it, and the notebook went on.",
        )
        self.restart(index)

    def _quarantine_memory_hogs(self, lost: ProcessLost) -> bool:
        """Bar the cells that had used up the memory earlier; return whether there are any."""
        new = self._hungry - self._barred
        if lost.ending.end is not ExitReason.OUT_OF_MEMORY or not new:
            return False
        for index in sorted(new):
            self._warn(f"Cell {index + 1} had used up the memory, and is not run again.")
        self._barred |= new
        return True

    def _keep_outputs(self, index: int, head: Mapping[str, Any]) -> None:
        cell = self.cells[index]
        cell.execution_count = index + 1
        outputs = as_outputs(head.get("outputs"), index + 1)
        if not matters(cell):
            outputs = [output for output in outputs if output.output_type == "error"]
        cell.outputs = clean_outputs(outputs, self._taken)
        if any(output.get("ename") == "MemoryError" for output in cell.outputs):
            self._hungry.add(index)
        if head.get("ended") != "success" and not is_failed(cell):
            note(cell, "CellFailed", "This cell did not come to its end.")
        if head.get("out_of_time") is True:
            self._barred.add(index)
            self.ends.append(ExitReason.OUT_OF_TIME)
            self._warn(f"Cell {index + 1} used up its time and was stopped.")

    # ------------------------------------------------------------------ answers

    def park(self, index: int, before: int) -> None:
        """Set an answer aside in its present state; try again in a new process if that fails.

        Args:
            index: the number of its check.
            before: the cell before which a new process stops.
        """
        for _ in range(2):
            if not self.is_open():
                self.parked[index] = Parked("untried")
                return
            try:
                self.parked[index] = self._set_aside(index)
                return
            except ProcessLost as lost:
                self.lose(f"Cell {index + 1}", lost)
                self._quarantine_memory_hogs(lost)
                self.restart(before)
        self.parked[index] = Parked("lost")

    def recover(self, index: int, lost: ProcessLost, before: int) -> None:
        """Continue after a trial in which an answer did not return.

        Args:
            index: the number of its check.
            lost: the reason for which its process was lost.
            before: the cell before which a new process stops.
        """
        parked, end = self.parked[index], self.ended()
        if end is not None and end.end in _USED_UP:
            lost = ProcessLost(end)
        self.lose(f"Trying `{self.cells.exercise(index).name}`", lost)
        parked.close()
        self.parked[index] = Parked("lost", how=lost.ending.end)
        if self.supply.can_fork and not end and parked.pid:
            self.process.end_one(parked.pid)
        else:
            self.restart(before)

    def _set_aside(self, index: int) -> Parked:
        name, can_fork = self.cells.exercise(index).name, self.supply.can_fork
        return set_aside(self.process, name, self._meanwhile, can_fork=can_fork)
