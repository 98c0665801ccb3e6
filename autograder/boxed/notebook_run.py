"""One notebook's way through the boxes: its cells are run, its answers tried, and judged here.

A cell that ends the notebook's process, blocks it or uses up its memory costs what that cell was
good for, not the notebook: a new process runs the earlier cells again, without it, and goes on.

At each check the notebook's process sets the answer aside in a forked child. When the last cell has
been run, the children are given the cases, one at a time, in an order of this submission's own.

An answer can keep a hidden case in its box. So what is shown of a student's process comes first:
the cells, answers that are defined late, and the visible cases. After the first hidden case nothing
is shown in its own words; the cases from then on are called sealed.
"""

from __future__ import annotations

import contextlib
import random
import re
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from nbformat.notebooknode import NotebookNode, from_dict
from nbformat.v4 import new_output

from autograder.boxed.case_reports import case_reports
from autograder.boxed.known_outcomes import recognise
from autograder.boxed.process_source import ProcessSource
from autograder.boxed.remote_graphs import GraphsElsewhere
from autograder.boxed.untrusted import sound_outcome
from autograder.boxed.work_ahead import GLANCE, LOOKING, look_at
from autograder.builder.cell_ids import is_as_given
from autograder.builder.solution_regions import STUB
from autograder.core.case_builder import builder_of
from autograder.core.exercise import Case, Exercise
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import AWAKE, Limits, OutOfTime, bounded_output, time_limit, waited
from autograder.core.outcome import Outcome
from autograder.core.process_exit import End, Ending
from autograder.core.verdict import Finding, Verdict
from autograder.grading import Grading, State, Tried, is_missing, not_tried
from autograder.judge import findings_of
from autograder.judge.answer_text import Source
from autograder.learner.stale_cell import broken_cell
from autograder.runner import CPU_AFTER_TIMEOUT
from autograder.sandbox.client import Process, ProcessLost
from autograder.sandbox.wire import MAX_OUTPUTS
from autograder.submission.case_report import CaseReport
from autograder.submission.contract import Timeouts
from autograder.submission.sanitize import clean_outputs, taken_ids
from autograder.submission.source_cells import CHECK, checked_exercise, grade_id

MOST_CELLS = 2_000
"""Cells of a notebook that are run; each is a step of the box."""

MOST_ASTRAY = 3
"""How many times a notebook's process may be lost although it has not ended: it does not answer, or
answers something else. Each time costs as long as a cell may take, and it may be another cell's
doing than the one that is waited for."""

_USED_UP = (End.OUT_OF_MEMORY, End.OUT_OF_TIME, End.TOO_MANY_PROCESSES)
"""Ends by which a process has used up what it may use."""

AT_ONCE = 20.0
"""Seconds for what takes a moment, such as setting an answer aside."""

ANSWER_GRACE = 5.0
"""Seconds after its time is over in which a process may still answer."""

Files = Mapping[str, bytes]

SetAside = Literal["parked", "undefined", "not callable", "untried", "lost"]
"""What came of setting an answer aside."""

_STATES: dict[SetAside, State] = {
    "undefined": "undefined",
    "not callable": "not callable",
    "untried": "untried",
}
"""What is said of an answer that could not be set aside."""


@dataclass
class Parked:
    """An answer that was set aside at its check.

    Attributes:
        state: ``"parked"``; or ``"undefined"``, ``"not callable"``, ``"untried"``, ``"lost"``.
        kind: of what it is that cannot be called.
        child: the process in which it waits.
        pid: the number of that process in its box.
        how: how its process ended.
    """

    state: SetAside
    kind: str = ""
    child: Process | None = None
    pid: int = 0
    how: End = End.EXITED

    def close(self) -> None:
        """Let the process end."""
        if self.child is not None:
            self.child.close()
        self.child = None


class NotebookRun:
    """Works a notebook through, in place.

    Args:
        nb: the notebook, repaired.
        exercises: the exercises of its chapter, by name.
        supply: where processes come from.
        seed: picks the random models, and the order of the cases.
        files: what lies beside the notebook.
        patience: how long it may take.
        only: the one exercise to be tried; all of them by default.
        warn: is told what happened to the notebook, a sentence at a time.
    """

    def __init__(
        self,
        nb: NotebookNode,
        exercises: Mapping[str, Exercise],
        supply: ProcessSource,
        *,
        seed: int = 0,
        files: Files | None = None,
        patience: Timeouts | None = None,
        only: str = "",
        warn: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.nb, self.exercises, self.supply, self.seed = nb, exercises, supply, seed
        self.files, self.patience, self.only = files or {}, patience or Timeouts(), only
        self.warn = warn
        self.verdicts: dict[int, Verdict] = {}
        """By the number of the check cell, from 0."""
        self.ends: list[End] = []
        """How processes of this notebook ended that did not get to its end."""
        self.cases: list[CaseReport] = []
        """Where one exercise is asked for: what became of each of its cases."""
        self.restarts = -1
        """How many processes it took, after the first."""
        self._notebook: Process | None = None
        self._graphs = GraphsElsewhere(supply)
        self._parked: dict[int, Parked] = {}
        self._trials: dict[int, _Trial] = {}
        self._ahead = self._what_comes()
        self._taken = taken_ids(nb)
        self._late: set[int] = set()  # checks whose answers come further down
        self._seals = False  # whether a hidden case was given to an answer of this notebook
        self._used = self._astray = 0
        self._deadline = 0.0  # that of `AWAKE`; counts once the notebook is worked through
        self._end = len(nb.cells)
        self._gave_up: int | None = None  # the cell at which the processes were used up
        self._barred: set[int] = set()  # cells that a new process must not be given
        self._hungry: set[int] = set()  # cells that ran out of memory, and may hold what there is

    def run(self) -> dict[int, Verdict]:
        """Work through the notebook.

        Raises:
            NoBox: there is no box here.
        """
        self._deadline = AWAKE.now() + self.patience.notebook
        try:
            self._start()
            self._end = self._end_of_work()
            for index, cell in enumerate(self.nb.cells[: self._end]):
                self._visit(cell, index)
            self._give_a_last_process()
            self._park_the_late()
            waiting = [index for index in self._checks() if index not in self.verdicts]
            for index in waiting:
                self._try_visible(index)
            for index in waiting:
                self._replace_stub(index)
            for index in waiting:  # hidden cases
                self.verdicts[index] = self._try(index)
        finally:
            self._stop()
            self._graphs.close()
        return self.verdicts

    def _end_of_work(self) -> int:
        """The number of cells up to the last one that can matter to a score.

        A chapter ends with cells of the course's own, which no answer can use: if they are as they
        were given out, they are not run. Those above are run, but what they show is in the chapter,
        and is not kept.
        """
        code = [i for i, cell in enumerate(self.nb.cells) if cell.cell_type == "code"]
        if not any(self._checked(self.nb.cells[i]) for i in code):
            return len(self.nb.cells)
        matter = (i for i in reversed(code) if self._matters(self.nb.cells[i]))
        return next(matter, 0) + 1

    def _finish(self) -> None:
        """Run the last cells after all: an answer that comes late may use what was moved there."""
        rest, self._end = self.nb.cells[self._end :], len(self.nb.cells)
        for index, cell in enumerate(rest, self._end - len(rest)):
            self._visit(cell, index)

    def _may_come_late(self, name: str) -> bool:
        """Whether another cell than its own speaks of an answer."""
        own = (name, f"{CHECK}{name}")
        others = (
            cell
            for cell in self.nb.cells
            if cell.cell_type == "code" and self._matters(cell) and grade_id(cell) not in own
        )
        return any(re.search(rf"\b{name}\b", cell.source) for cell in others)

    @staticmethod
    def _matters(cell: NotebookNode) -> bool:
        """Whether a cell is graded, may be a student's, or may hold what one has written."""
        return "nbgrader" in cell.metadata or not is_as_given(cell)

    def _checks(self) -> list[int]:
        """The numbers of the check cells whose exercises are tried."""
        found = {i: self._checked(cell) for i, cell in enumerate(self.nb.cells)}
        return [i for i, exercise in found.items() if exercise and self._is_asked(exercise)]

    def _checked(self, cell: NotebookNode) -> Exercise | None:
        return self.exercises.get(checked_exercise(cell) or "")

    def _exercise(self, index: int) -> Exercise:
        """The exercise of a check."""
        return self.exercises[checked_exercise(self.nb.cells[index]) or ""]

    def _is_asked(self, exercise: Exercise) -> bool:
        return self.only in ("", exercise.name)

    def _visit(self, cell: NotebookNode, index: int) -> None:
        exercise = self._checked(cell)
        if exercise is None:
            self._run(cell, index)
        elif self._is_asked(exercise):
            self._park(index)
            if not self.supply.can_fork:
                self.verdicts[index] = self._try(index)

    # ------------------------------------------------------------------ cells

    def _run(self, cell: NotebookNode, index: int) -> None:
        """Run one cell as the student wrote it."""
        if cell.cell_type != "code" or not cell.source.strip():
            return
        if index >= MOST_CELLS:
            note(cell, "NotRun", f"This cell was not run: only the first {MOST_CELLS:,} are.")
            return
        if not self._is_open():
            note(cell, "NotRun", "This cell was not run: the notebook had used up what it may use.")
            return
        try:
            head = self._step(cell)
        except ProcessLost as lost:
            self._lose(f"Cell {index + 1}", lost)
            if self._bars_the_hungry(lost):
                self._restart(index)
                self._run(cell, index)
                return
            self._barred.add(index)
            note(
                cell,
                "ProcessEnded",
                "This cell ended or blocked Python. The cells above it were run again "
                "without it, and the notebook went on.",
            )
            self._restart(index)
            return
        cell.execution_count = index + 1
        outputs = as_outputs(head.get("outputs"), index + 1)
        if not self._matters(cell):
            outputs = [output for output in outputs if output.output_type == "error"]
        cell.outputs = clean_outputs(outputs, self._taken)
        if any(output.get("ename") == "MemoryError" for output in cell.outputs):
            self._hungry.add(index)
        if head.get("ended") != "success" and not is_failed(cell):
            note(cell, "CellFailed", "This cell did not come to its end.")
        if head.get("out_of_time") is True:
            self._barred.add(index)
            self.ends.append(End.OUT_OF_TIME)
            self.warn(f"Cell {index + 1} used up its time and was stopped.")

    def _step(self, cell: NotebookNode) -> dict[str, Any]:
        times = self.patience
        step = {"do": "run", "source": cell.source, "bare": not self._matters(cell)}
        step |= {"cpu": times.cell_cpu, "wall": times.cell_wall}
        patience = times.cell_wall + ANSWER_GRACE
        return self._process().step(
            step, patience=patience, largest=MAX_OUTPUTS, meanwhile=self.look_ahead
        )[0]

    def _what_comes(self) -> Iterator[tuple[Exercise, Case]]:
        """The cases on which answers will be tried first, as far as somebody wrote an answer."""
        texts = {grade_id(cell): cell.source for cell in self.nb.cells}
        for index in self._checks():
            exercise = self._exercise(index)
            if STUB not in texts.get(exercise.name, STUB):
                yield from ((exercise, case) for case in exercise.visible_cases())

    def look_ahead(self) -> bool:
        """While the notebook's process is at work, look at the next case; whether there was one."""
        return self._look_at_next(self._ahead)

    def _look_at_next(
        self, cases: Iterator[tuple[Exercise, Case]], limits: Limits = LOOKING
    ) -> bool:
        began = AWAKE.now()
        if (found := next(cases, None)) is not None:
            look_at(*found, limits)
        self._deadline += AWAKE.now() - began  # that is no time of the notebook's
        return found is not None

    # ------------------------------------------------------------------ answers

    def _park(self, index: int) -> None:
        """Have an answer set aside as it is now; if that ends the process, in a new one."""
        for _ in range(2):
            if not self._is_open():
                self._parked[index] = Parked("untried")
                return
            try:
                self._parked[index] = self._set_aside(self._exercise(index))
                return
            except ProcessLost as lost:
                self._lose(f"Cell {index + 1}", lost)
                self._bars_the_hungry(lost)
                self._restart(self._end if index in self._late else index)
        self._parked[index] = Parked("lost")

    def _set_aside(self, exercise: Exercise) -> Parked:
        step = {"do": "park", "name": exercise.name, "wired": self.supply.can_fork}
        if not self.supply.can_fork:
            head, _ = self._process().step(step, patience=AT_ONCE)
            return _parked(head, None, self._process())
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                head, _ = self._process().step(
                    step, patience=AT_ONCE, hand_over=(theirs,), meanwhile=self.look_ahead
                )
            except BaseException:
                ours.close()
                raise
        parked = _parked(head, ours, self._process())
        if parked.child is None:
            ours.close()
        else:  # many that begin at once would be put behind, as a crowd is
            parked.child.step({"do": "ready"}, patience=AT_ONCE)
        return parked

    def _park_the_late(self) -> None:
        """Set answers aside that were not there at the place of their check, but are at the end."""
        for index in self._checks():
            if self._parked[index].state == "undefined" and index not in self.verdicts:
                self._finish()
                self._late.add(index)
                self._park(index)
            elif index in self.verdicts and is_missing(self.verdicts[index]) and self._is_open():
                self._park_late(index)  # without a box, where it was tried at its check
                again = self._try(index)
                if not is_missing(again):
                    self.verdicts[index] = again

    def _park_late(self, index: int) -> None:
        """Set aside what has an answer's name at the end of the notebook."""
        if self._may_come_late(self._exercise(index).name):
            self._finish()
        self._late.add(index)
        self._trials.pop(index, None)
        self._parked[index] = Parked("untried")
        self._park(index)

    def _replace_stub(self, index: int) -> None:
        """Where an answer was still a stub at its check, take what has its name at the end.

        That is tried on visible cases at once: what it shows is shown to its student.
        """
        if index in self._late or not self._is_stub(index) or not self._is_open():
            return
        stub, trial = self._parked[index], self._trial(index)
        stub.close()
        self._park_late(index)
        if self._parked[index].state == "undefined":  # as it is in the end
            self._parked[index], self._trials[index] = stub, trial
        else:
            self._try_visible(index)

    def _is_stub(self, index: int) -> bool:
        """Whether an answer is an untouched stub, before any hidden case is given to it."""
        exercise = self._exercise(index)
        if exercise.visible_cases():
            return self._trial(index).is_stub
        cells = (cell for cell in self.nb.cells if grade_id(cell) == exercise.name)
        return any(STUB in cell.source for cell in cells)

    def _try_visible(self, index: int) -> None:
        """Have an answer tried on the cases that are no secret."""
        self._graphs.begin_answer(self.look_ahead)
        self._go(index, self._exercise(index).visible_cases())

    def _try(self, index: int) -> Verdict:
        """Have an answer tried; if it fails because its cell is not Python, say that alone."""
        verdict = self._try_on_cases(index)
        source = self._source(index)
        broken = None if verdict.passed else broken_cell(source.cells, source.name)
        if broken is None:
            return verdict
        return replace(
            verdict, status="failed", findings=(broken,), example=None, others=(), error="",
            printed="",
        )  # fmt: skip

    def _try_on_cases(self, index: int) -> Verdict:
        """Have an answer tried, on the cases and then on random models, and judge it."""
        exercise, parked = self._exercise(index), self._parked[index]
        if parked.state not in ("parked", "lost"):
            return not_tried(exercise, Tried(_STATES[parked.state], kind=parked.kind))
        if not self._is_open():
            return not_tried(exercise, Tried("untried"))
        drawn = self._random_models(exercise)
        self._graphs.begin_answer(partial(self._look_at_next, drawn, GLANCE))
        trial = self._trial(index)
        outcomes: dict[str, Outcome] = {}

        def attempt(cases: Sequence[Case], /) -> Tried:
            self._go(index, [case for case in cases if case.name not in trial.cases])
            tried = self._tried(index)
            outcomes.update((outcome.case, outcome) for outcome in tried.outcomes)
            return tried

        try:
            grading = Grading(
                exercise, attempt, self.seed, runner=self._graphs, source=self._source(index)
            )
            verdict = grading.verdict()
            if self.only:
                found = verdict.findings
                self.cases = case_reports(exercise, grading.drawn, outcomes, self._graphs, found)
            return verdict
        finally:
            if self.supply.can_fork:
                self._parked[index].close()

    def _find(self, exercise: Exercise, case: Case, outcome: Outcome) -> list[Finding] | None:
        """What is wrong with an outcome; ``None`` where that cannot be said in time, or at all."""
        found = None
        with contextlib.suppress(OutOfTime, Exception), time_limit(LOOKING):
            with preserve_global_state(), bounded_output(0):
                found = findings_of(exercise, case, outcome, runner=self._graphs)
        return found

    def _random_models(self, exercise: Exercise) -> Iterator[tuple[Exercise, Case]]:
        """The models on which an answer is tried if it holds on all other cases."""
        with contextlib.suppress(Exception):  # an instructor's own; what comes of it comes later
            for case in exercise.random.cases(self.seed) if exercise.random else ():
                yield exercise, case

    def _source(self, index: int) -> Source:
        """The text of the cells of which the answer at a check may be made."""
        last = len(self.nb.cells) if index in self._late else index
        cells = [cell.source for cell in self.nb.cells[:last] if cell.cell_type == "code"]
        return Source(tuple(cells), self._exercise(index).name)

    def _go(self, index: int, cases: Sequence[Case]) -> None:
        """Have an answer tried on some more cases."""
        exercise = self._exercise(index)
        trial = self._trial(index)
        child = self._parked[index].child
        if self._parked[index].state != "parked" or child is None or not self._is_open():
            return
        told = trial.timed_out
        # Without a box nothing can be kept from a student's code, which can read our files.
        self._seals |= self.supply.can_fork and any(case.hidden for case in cases)
        try:
            trial.go(child, self._in_order(exercise, cases), self.warn, seals=self._seals)
            if trial.timed_out and not told:
                self.ends.append(End.OUT_OF_TIME)
                self.warn(f"`{exercise.name}` used up its time on a case and was stopped.")
        except ProcessLost as lost:
            self._after_trial(index, lost)

    def _trial(self, index: int) -> _Trial:
        """How far the answer at a check has been tried."""
        exercise = self._exercise(index)
        find = partial(self._find, exercise)
        return self._trials.setdefault(index, _Trial(exercise, self.patience, find))

    def _tried(self, index: int) -> Tried:
        """What an answer did on the cases since the last time, as its process says."""
        parked, trial = self._parked[index], self._trials[index]
        if parked.state == "lost":
            return Tried("lost", case=trial.at, how=parked.how)
        sealed = frozenset(trial.sealed)
        return Tried("tried", outcomes=trial.handed_over(), found=dict(trial.found), sealed=sealed)

    def _in_order(self, exercise: Exercise, cases: Sequence[Case]) -> list[Case]:
        """The cases in an order of this submission's own."""
        mixed = list(cases)
        random.Random(f"{self.seed} {exercise.name} {len(cases)}").shuffle(mixed)
        return mixed

    def _after_trial(self, index: int, lost: ProcessLost) -> None:
        """Mend what an answer has broken that did not come back."""
        parked = self._parked[index]
        name = self._exercise(index).name
        end = Ending(End.EXITED) if self._notebook is None else self._notebook.ended(0.5)
        if end is not None and end.end in _USED_UP:
            lost = ProcessLost(end)
        self._lose(f"Trying `{name}`", lost)
        parked.close()
        self._parked[index] = Parked("lost", how=lost.ending.end)
        if self.supply.can_fork and not end and parked.pid:
            self._process().end_one(parked.pid)
            return
        self._restart(self._end if self.supply.can_fork else index)

    # ------------------------------------------------------------------ processes

    def _process(self) -> Process:
        """The notebook's process.

        Raises:
            ProcessLost: there is none.
        """
        if self._notebook is None:
            raise ProcessLost(Ending(End.EXITED))
        return self._notebook

    def _is_open(self) -> bool:
        """Whether cells can still be run, and answers tried."""
        if self._notebook is not None and AWAKE.now() > self._deadline:
            self.warn(f"The notebook took longer than {self.patience.notebook:g} seconds.")
            self.ends.append(End.OUT_OF_TIME)
            self._stop()
        return self._notebook is not None

    def _lose(self, what: str, lost: ProcessLost) -> None:
        self.ends.append(lost.ending.end)
        self._astray += lost.ending.end in (End.ASTRAY, End.OUT_OF_TIME)
        how = lost.ending.end if self._seals else lost.ending  # a code of an exit can tell things
        self.warn(f"{what} ended or blocked Python ({how}).")

    def _bars_the_hungry(self, lost: ProcessLost) -> bool:
        """Bar the cells that left no memory to the one that now lacked it, if there are any."""
        new = self._hungry - self._barred
        if lost.ending.end is not End.OUT_OF_MEMORY or not new:
            return False
        for index in sorted(new):
            self.warn(f"Cell {index + 1} had used up the memory, and is not run again.")
        self._barred |= new
        return True

    def _start(self) -> None:
        self._used += 1
        self.restarts += 1
        self._notebook = self.supply.process("student")
        if self.files:
            step = {"do": "files", "names": list(self.files)}
            self._process().step(step, list(self.files.values()), patience=AT_ONCE)

    def _stop(self) -> None:
        for parked in self._parked.values():
            if self.supply.can_fork:
                parked.close()
        if self._notebook is not None:
            self._notebook.close()
        self._notebook = None

    def _restart(self, before: int) -> None:
        """Give the notebook a new process in which the cells before this one have been run.

        What was set aside and is still to be tried is set aside again.
        """
        while True:
            self._stop()
            if self._used >= self.patience.restarts or self._astray >= MOST_ASTRAY:
                self.warn(f"The notebook used up {self._used} processes; the rest is not run.")
                self._gave_up = before
                return
            try:
                self._start()
                lost_at = self._replay(before)
            except ProcessLost as lost:  # the files beside it
                self._lose("The notebook's folder", lost)
                continue
            if lost_at is None:
                return
            self._barred.add(lost_at)

    def _give_a_last_process(self) -> None:
        """Where cells have used up all processes, give the answers above them one more."""
        if self._notebook is None and self._gave_up is not None and self.supply.can_fork:
            self._used -= 1
            self._astray -= 1
            self._restart(self._gave_up)

    def _replay(self, before: int) -> int | None:
        """Run the cells again whose outputs are there already; the one that failed, if any.

        Answers that come late are set aside after all cells, as they were.
        """
        early = (index for index in range(before) if index not in self._late)
        for index in (*early, *sorted(self._late)):
            cell = self.nb.cells[index]
            if cell.cell_type != "code" or index in self._barred:
                continue
            if not self._is_open():
                return None
            try:
                exercise = self._checked(cell)
                if exercise is None:
                    self._step(cell)
                elif self.supply.can_fork and self._waits(index):
                    self._parked[index] = self._set_aside(exercise)
            except ProcessLost as lost:
                self._lose(f"Cell {index + 1}, run again,", lost)
                return index
        return None

    def _waits(self, index: int) -> bool:
        """Whether an answer was set aside that is still to be tried."""
        parked = self._parked.get(index)
        return parked is not None and parked.state == "parked" and index not in self.verdicts


def _parked(head: dict[str, Any], talk: socket.socket | None, process: Process) -> Parked:
    """The answer that a notebook's process was told to set aside.

    Args:
        head: what that process says.
        talk: over which the process in which the answer waits is talked to; without one, the answer
            waits in the notebook's own process.
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


Find = Callable[[Case, Outcome], "list[Finding] | None"]
"""Says what is wrong with an outcome; ``None`` where that is to be seen later."""


class _Trial:
    """One answer, tried on one case after the other: on each that may still change its score.

    An untouched stub is tried once. An answer that uses up its time on one case has lost the
    case's aspect, and with the first aspect everything; further cases get less time.
    """

    def __init__(self, exercise: Exercise, patience: Timeouts, find: Find) -> None:
        self._exercise, self._find = exercise, find
        self._cpu, self._wall = patience.case_cpu, patience.case_wall
        self._left, self._number = patience.trial, 0
        self._looked = 0.0  # seconds of the judge's own, which are none of the answer's
        self._began = self._queued = 0.0
        self._gone: set[str] = set()
        self._over = False
        self.outcomes: list[Outcome] = []
        """What it did, as far as nobody has looked at it."""
        self.found: dict[str, list[Finding]] = {}
        """What is wrong with what it did, by the cases of which that is known."""
        self._unseen: deque[tuple[Case, Outcome]] = deque()
        self._sought = 0.0  # seconds of processor time
        self.cases: set[str] = set()
        """The cases that have had their turn."""
        self.at = ""
        """The case that is being tried."""
        self.timed_out = False
        """Whether it has used up its time on a case."""
        self.is_stub = False
        """Whether it was an untouched stub on a case."""
        self.sealed: set[str] = set()
        """The cases that came after a hidden one; hidden ones, too."""

    def go(
        self,
        child: Process,
        cases: Sequence[Case],
        warn: Callable[[str], None],
        *,
        seals: bool = False,
    ) -> None:
        """Try the answer on some more cases.

        Args:
            child: the process in which it waits.
            cases: the cases.
            warn: is told what happened, a sentence at a time.
            seals: whether nothing that the process says of these cases may be shown.

        Raises:
            ProcessLost: its process is gone, or took too long for all cases together.
        """
        self._began, self._looked, self._queued = AWAKE.now(), 0.0, child.queued()
        if seals:
            self.sealed |= {case.name for case in cases}
        try:
            self._go(child, cases, warn)
        finally:
            self._left -= waited(self._passed(), child.queued() - self._queued)

    def _go(self, child: Process, cases: Sequence[Case], warn: Callable[[str], None]) -> None:
        for case in cases:
            if self._over:
                return
            self.cases.add(case.name)
            if case.aspect in self._gone:
                continue
            self.at, self._number = case.name, self._number + 1
            number = self._number
            step = {"do": "case", "number": number, "kind": self._exercise.kind}
            step |= {"cpu": self._cpu, "wall": self._wall}
            patience = self._patience(child)
            head, blobs = child.step(
                step, [builder_of(case)], patience=max(0.0, patience),
                meanwhile=partial(self._look_around, case),
            )  # fmt: skip
            if head.get("state") == "broken":
                why = "" if case.name in self.sealed else f" ({str(head.get('why'))[:300]})"
                warn(f"{self._exercise.name} could not be tried in this notebook's Python{why}")
                self._over = True
                return
            outcome = recognise(case, blobs, number)
            if outcome is not None:
                self.found[case.name] = []
            else:
                outcome = sound_outcome(blobs, number)
            if outcome is None:
                continue
            outcome = replace(outcome, case=case.name)
            self.outcomes.append(outcome)
            if case.name not in self.found:
                self._unseen.append((case, outcome))
            self._over = self._is_hopeless(case, outcome)

    def _passed(self) -> float:
        """Seconds since `go`, without the judge's own."""
        return AWAKE.now() - self._began - self._looked

    def _patience(self, child: Process) -> float:
        """Seconds that the next case may take. Waiting for a processor is no reason to end it."""
        most, passed = self._wall + ANSWER_GRACE, self._passed()
        if self._left - passed < most:
            passed = waited(passed, child.queued() - self._queued)
        return min(most, self._left - passed)

    def handed_over(self) -> list[Outcome]:
        """The outcomes that nobody has had yet; whoever has them now judges the rest."""
        outcomes, self.outcomes = self.outcomes, []
        self._unseen.clear()
        return outcomes

    def _look_around(self, case: Case) -> None:
        """While the answer is tried on a case, look at that, and judge an outcome before it.

        What is not judged here is judged with the answer as a whole, which has a time of its own.
        """
        began = AWAKE.now()
        look_at(self._exercise, case)
        if self._unseen and self._sought < LOOKING.cpu:
            seen, outcome = self._unseen.popleft()
            start = time.process_time()
            if (found := self._find(seen, outcome)) is not None:
                self.found[seen.name] = found
            self._sought += time.process_time() - start
        self._looked += AWAKE.now() - began

    def _is_hopeless(self, case: Case, outcome: Outcome) -> bool:
        if outcome.ended == "out of time":
            self.timed_out = True
            self._gone.add(case.aspect)
            self._cpu, self._wall = min(self._cpu, CPU_AFTER_TIMEOUT), min(self._wall, 5.0)
            return self._exercise.aspects[0].key in self._gone
        self.is_stub = outcome.ended == "not attempted"
        return self.is_stub


def as_outputs(claimed: Any, count: int) -> list[NotebookNode]:
    """Outputs of a cell as notebooks have them, from what a student's process says they are."""
    rows = claimed if isinstance(claimed, list) else []
    return [output for row in rows[:1000] if (output := _as_output(row, count)) is not None]


def _as_output(row: Any, count: int) -> NotebookNode | None:
    output: NotebookNode | None = None
    try:
        match row["output_type"]:
            case "stream":
                name = "stderr" if row["name"] == "stderr" else "stdout"
                output = new_output("stream", name=name, text=_text(row["text"]))
            case "error":
                lines = [_text(line) for line in row["traceback"]]
                name, value = _text(row["ename"]), _text(row["evalue"])
                output = new_output("error", ename=name, evalue=value, traceback=lines)
            case "display_data" | "execute_result" as kind:
                more = {"execution_count": count} if kind == "execute_result" else {}
                data, metadata = from_dict(dict(row["data"])), from_dict(dict(row["metadata"]))
                output = new_output(kind, data=data, metadata=metadata, **more)
    except (KeyError, TypeError, ValueError):
        return None
    return output


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value.encode("utf-8", "replace").decode()


def is_failed(cell: NotebookNode) -> bool:
    """Whether a cell shows an error: nbgrader's plain tests earn their points by showing none."""
    return any(output.output_type == "error" for output in cell.outputs)


def note(cell: NotebookNode, name: str, text: str) -> None:
    """Add to a cell's outputs what happened to it."""
    cell.outputs.append(new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"]))
