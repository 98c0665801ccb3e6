"""Runs the cells of a notebook in sandboxes, tries its answers there, and judges them here.

If a cell crashes, hangs or runs out of memory, only that cell is lost: a new process runs the
earlier cells again, without it, and continues.

At each check, the notebook's process sets the answer aside in a forked child. After the last cell,
each child gets the cases one at a time, in an order that depends on the submission.

An answer can store a hidden case in its sandbox, and print it later. So the parts whose output the
student sees come first: the cells, answers that are defined late, and the visible cases. From the
first hidden case on, cases are called sealed, and no text of the student's process is displayed.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from nbformat.notebooknode import NotebookNode

from autograder.boxed.answer_trial import Trial
from autograder.boxed.case_reports import case_reports
from autograder.boxed.notebook_cells import NotebookCells
from autograder.boxed.notebook_process import NotebookProcess
from autograder.boxed.parked_answers import Parked, SetAside
from autograder.boxed.private_cases import private_case
from autograder.boxed.process_source import ProcessSource
from autograder.boxed.remote_graphs import RemoteGraphRunner
from autograder.boxed.work_ahead import GLANCE, LOOKING, look_at
from autograder.core.exercise import Case, Exercise
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import CLOCK, Limits, OutOfTime, bounded_output, time_limit
from autograder.core.outcome import Outcome
from autograder.core.process_exit import ExitReason
from autograder.core.verdict import Finding, Verdict
from autograder.grading import Grading, State, Tried, is_missing, not_tried
from autograder.judge import findings_of
from autograder.judge.answer_text import Source
from autograder.learner.stale_cell import broken_cell
from autograder.sandbox.client import ProcessLost
from autograder.submission.case_report import CaseReport
from autograder.submission.check_result import PrivateCase
from autograder.submission.contract import Timeouts

_STATES: dict[SetAside, State] = {
    "undefined": "undefined",
    "not callable": "not callable",
    "untried": "untried",
}
"""The state of an answer that could not be set aside."""


class NotebookRun:
    """Runs a notebook in place, and judges its answers.

    Args:
        nb: the notebook, repaired.
        exercises: the exercises of its chapter, by name.
        supply: the source of processes.
        seed: picks the random models, and the order of the cases.
        files: the files next to the notebook.
        timeouts: the time that it may take.
        only: the one exercise to try; all of them by default.
        warn: called with each sentence about a problem of the notebook.
    """

    def __init__(
        self,
        nb: NotebookNode,
        exercises: Mapping[str, Exercise],
        supply: ProcessSource,
        *,
        seed: int = 0,
        files: Mapping[str, bytes] | None = None,
        timeouts: Timeouts | None = None,
        only: str = "",
        warn: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.cells, self.timeouts = NotebookCells(nb, exercises, only), timeouts or Timeouts()
        self.supply, self.seed, self.warn = supply, seed, warn
        self.notebook = NotebookProcess(
            self.cells, supply, self.timeouts, files or {}, warn, self.look_ahead
        )
        self.verdicts: dict[int, Verdict] = {}
        """The verdicts by the number of the check cell, from 0."""
        self.cases: list[CaseReport] = []
        """The result of each case, if only one exercise is tried."""
        self.private: dict[str, PrivateCase] = {}
        """By exercise, the case to show after the last extension."""
        self._graphs = RemoteGraphRunner(supply)
        self._trials: dict[int, Trial] = {}
        self._ahead = self.cells.first_cases()
        self._end = len(self.cells)

    def run(self) -> dict[int, Verdict]:
        """Run all cells, and try all answers.

        Raises:
            NoBox: this machine has no sandbox.
        """
        self.notebook.deadline = CLOCK.now() + self.timeouts.notebook
        try:
            self.notebook.start()
            self._end = self.cells.end_of_work()
            for index in range(self._end):
                self._visit(index)
            self.notebook.give_a_last_one()
            self._park_late_answers()
            waiting = [index for index in self.cells.checks() if index not in self.verdicts]
            for index in waiting:
                self._try_visible(index)
            for index in waiting:
                self._replace_stub(index)
            for index in waiting:  # hidden cases
                self.verdicts[index] = self._try(index)
        finally:
            self.notebook.stop()
            self._graphs.close()
        return self.verdicts

    def _visit(self, index: int) -> None:
        exercise = self.cells.checked(index)
        if exercise is None:
            self.notebook.run_cell(index)
        elif self.cells.is_asked(exercise):
            self._park(index)
            if not self.supply.can_fork:
                self.verdicts[index] = self._try(index)

    def _finish(self) -> None:
        """Run the last cells, because a late answer may use code that was moved there."""
        first, self._end = self._end, len(self.cells)
        for index in range(first, self._end):
            self._visit(index)

    def look_ahead(self) -> bool:
        """Prepare the next case, as the notebook's process works; return whether there was one."""
        return self._look_at_next(self._ahead)

    def _look_at_next(
        self, cases: Iterator[tuple[Exercise, Case]], limits: Limits = LOOKING
    ) -> bool:
        began = CLOCK.now()
        if (found := next(cases, None)) is not None:
            look_at(*found, limits)
        self.notebook.deadline += CLOCK.now() - began  # which is not the notebook's time
        return found is not None

    # ------------------------------------------------------------------ setting answers aside

    def _park(self, index: int) -> None:
        self.notebook.park(index, self._end if index in self.notebook.late else index)

    def _park_late_answers(self) -> None:
        """Set answers aside that were undefined at their check, but are defined at the end."""
        for index in self.cells.checks():
            if self.notebook.parked[index].state == "undefined" and index not in self.verdicts:
                self._finish()
                self.notebook.late.add(index)
                self._park(index)
            elif index in self.verdicts and is_missing(self.verdicts[index]):
                self._try_late(index)

    def _try_late(self, index: int) -> None:
        """Without a sandbox: try an answer again that was missing at its check."""
        if not self.notebook.is_open():
            return
        self._park_late(index)
        again = self._try(index)
        if not is_missing(again):
            self.verdicts[index] = again

    def _park_late(self, index: int) -> None:
        """Set aside the object with an answer's name at the end of the notebook."""
        if self.cells.may_come_late(self.cells.exercise(index).name):
            self._finish()
        self.notebook.late.add(index)
        self._trials.pop(index, None)
        self.notebook.parked[index] = Parked("untried")
        self._park(index)

    def _replace_stub(self, index: int) -> None:
        """If an answer was a stub at its check, use the object with its name at the end.

        The visible cases follow at once, because the student sees their output.
        """
        if index in self.notebook.late or not self._is_stub(index) or not self.notebook.is_open():
            return
        stub, trial = self.notebook.parked[index], self._trial(index)
        stub.close()
        self._park_late(index)
        if self.notebook.parked[index].state == "undefined":  # deleted after its check
            self.notebook.parked[index], self._trials[index] = stub, trial
        else:
            self._try_visible(index)

    def _is_stub(self, index: int) -> bool:
        """Whether an answer is an untouched stub; found without hidden cases."""
        exercise = self.cells.exercise(index)
        if exercise.visible_cases():
            return self._trial(index).is_stub
        return self.cells.has_stub(exercise)

    def _try_visible(self, index: int) -> None:
        """Try an answer on its visible cases."""
        self._graphs.begin_answer(self.look_ahead)
        self._go(index, self.cells.exercise(index).visible_cases())

    def _try(self, index: int) -> Verdict:
        """Try an answer; if it fails because its cell is not Python, report only that."""
        verdict = self._try_on_cases(index)
        source = self._source(index)
        broken = None if verdict.passed else broken_cell(source.cells, source.name)
        if broken is None:
            return verdict
        self.private.pop(verdict.exercise, None)
        return replace(
            verdict, status="failed", findings=(broken,), example=None, others=(), error="",
            printed="",
        )  # fmt: skip

    def _try_on_cases(self, index: int) -> Verdict:
        """Try an answer on the cases, then on random models, and judge it."""
        exercise, parked = self.cells.exercise(index), self.notebook.parked[index]
        if parked.state not in ("parked", "lost"):
            return not_tried(exercise, Tried(_STATES[parked.state], kind=parked.kind))
        if not self.notebook.is_open():
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
            if private := private_case(exercise, verdict, grading.drawn, outcomes):
                self.private[exercise.name] = private
            if self.cells.only:
                found = verdict.findings
                self.cases = case_reports(exercise, grading.drawn, outcomes, self._graphs, found)
            return verdict
        finally:
            if self.supply.can_fork:
                self.notebook.parked[index].close()
                self.notebook.parked[index].is_judged = True

    def _find(self, exercise: Exercise, case: Case, outcome: Outcome) -> list[Finding] | None:
        """The mistakes in an outcome; ``None`` if judging fails or takes too long."""
        found = None
        with contextlib.suppress(OutOfTime, Exception), time_limit(LOOKING):
            with preserve_global_state(), bounded_output(0):
                found = findings_of(exercise, case, outcome, runner=self._graphs)
        return found

    def _random_models(self, exercise: Exercise) -> Iterator[tuple[Exercise, Case]]:
        """The models on which an answer is tried if it passes all other cases."""
        with contextlib.suppress(Exception):  # an instructor's models; an error is reported later
            for case in exercise.random.cases(self.seed) if exercise.random else ():
                yield exercise, case

    def _source(self, index: int) -> Source:
        return self.cells.source(index, len(self.cells) if index in self.notebook.late else index)

    def _go(self, index: int, cases: Sequence[Case]) -> None:
        """Try an answer on some more cases."""
        exercise = self.cells.exercise(index)
        trial, parked = self._trial(index), self.notebook.parked[index]
        if parked.state != "parked" or parked.child is None or not self.notebook.is_open():
            return
        told = trial.timed_out
        # Without a sandbox, a student's code can read our files, so hiding is useless.
        self.notebook.seals |= self.supply.can_fork and any(c.hidden for c in cases)
        ordered = self._in_order(exercise, cases)
        try:
            trial.go(parked.child, ordered, self.warn, seals=self.notebook.seals)
            if trial.timed_out and not told:
                self.notebook.ends.append(ExitReason.OUT_OF_TIME)
                self.warn(f"`{exercise.name}` used up its time on a case and was stopped.")
        except ProcessLost as lost:
            self.notebook.recover(index, lost, self._end if self.supply.can_fork else index)

    def _trial(self, index: int) -> Trial:
        """The trial of the answer at a check."""
        exercise = self.cells.exercise(index)
        find = partial(self._find, exercise)
        return self._trials.setdefault(index, Trial(exercise, self.timeouts, find))

    def _tried(self, index: int) -> Tried:
        """The results of an answer since the last call, as its process claims them."""
        parked, trial = self.notebook.parked[index], self._trials[index]
        if parked.state == "lost":
            return Tried("lost", case=trial.at, how=parked.how)
        sealed = frozenset(trial.sealed)
        return Tried("tried", outcomes=trial.handed_over(), found=dict(trial.found), sealed=sealed)

    def _in_order(self, exercise: Exercise, cases: Sequence[Case]) -> list[Case]:
        """The cases in an order that depends on the submission."""
        mixed = list(cases)
        random.Random(f"{self.seed} {exercise.name} {len(cases)}").shuffle(mixed)
        return mixed
