"""Tries one answer on its cases, in the process in which it was set aside."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from autograder.boxed.known_outcomes import recognise
from autograder.boxed.notebook_process import ANSWER_GRACE_SECONDS
from autograder.boxed.untrusted import parse_outcome
from autograder.boxed.work_ahead import LOOKING, look_at
from autograder.core.case_builder import builder_of
from autograder.core.exercise import Case, Exercise
from autograder.core.limits import CLOCK, charged_wait
from autograder.core.outcome import Outcome
from autograder.core.verdict import Finding
from autograder.runner import CPU_AFTER_TIMEOUT
from autograder.sandbox.client import Process
from autograder.submission.contract import Timeouts

Find = Callable[[Case, Outcome], "list[Finding] | None"]
"""Finds the mistakes in an outcome; ``None`` if that has to be done later."""


class Trial:
    """One answer, tried on one case after another, except those that cannot change its score.

    An untouched stub is tried once. An answer that uses up its time on one case has lost the case's
    aspect, and if that is the first aspect, everything. Further cases get less time.
    """

    def __init__(self, exercise: Exercise, timeouts: Timeouts, find: Find) -> None:
        self._exercise, self._find = exercise, find
        self._cpu, self._wall = timeouts.case_cpu, timeouts.case_wall
        self._left, self._number = timeouts.trial, 0
        self._looked = 0.0  # seconds of the judge's own work, which do not count as the answer's
        self._began = self._queued = 0.0
        self._gone: set[str] = set()
        self._over = False
        self.outcomes: list[Outcome] = []
        """The outcomes that have not been handed over."""
        self.found: dict[str, list[Finding]] = {}
        """The findings on outcomes that are judged already, by case."""
        self._unseen: deque[tuple[Case, Outcome]] = deque()
        self._sought = 0.0  # seconds of processor time
        self.cases: set[str] = set()
        """The cases that were tried or skipped."""
        self.at = ""
        """The name of the case that is being tried."""
        self.timed_out = False
        """Whether the answer has used up its time on a case."""
        self.is_stub = False
        """Whether the answer was an untouched stub on a case."""
        self.sealed: set[str] = set()
        """The hidden cases, and all cases after the first of them."""

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
            warn: called with each sentence about a problem.
            seals: whether the student must not see the process's own words about these cases.

        Raises:
            ProcessLost: its process is gone, or took too long for all cases together.
        """
        self._began, self._looked, self._queued = CLOCK.now(), 0.0, child.queued()
        if seals:
            self.sealed |= {case.name for case in cases}
        try:
            self._go(child, cases, warn)
        finally:
            self._left -= charged_wait(self._passed(), child.queued() - self._queued)

    def _go(self, child: Process, cases: Sequence[Case], warn: Callable[[str], None]) -> None:
        for case in cases:
            if self._over:
                return
            self.cases.add(case.name)
            if case.aspect not in self._gone:
                self.at, self._number = case.name, self._number + 1
                self._try_case(child, case, warn)

    def _try_case(self, child: Process, case: Case, warn: Callable[[str], None]) -> None:
        number = self._number
        step = {"do": "case", "number": number, "kind": self._exercise.kind}
        step |= {"cpu": self._cpu, "wall": self._wall}
        head, blobs = child.step(
            step, [builder_of(case)], patience=max(0.0, self._patience(child)),
            meanwhile=partial(self._use_wait, case),
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
            outcome = parse_outcome(blobs, number)
        if outcome is None:
            return
        outcome = replace(outcome, case=case.name)
        self.outcomes.append(outcome)
        if case.name not in self.found:
            self._unseen.append((case, outcome))
        self._over = self._is_hopeless(case, outcome)

    def _passed(self) -> float:
        """Seconds since `go`, without the judge's own work."""
        return CLOCK.now() - self._began - self._looked

    def _patience(self, child: Process) -> float:
        """Seconds that the next case may take, extended if the process waits for a processor."""
        most, passed = self._wall + ANSWER_GRACE_SECONDS, self._passed()
        if self._left - passed < most:
            passed = charged_wait(passed, child.queued() - self._queued)
        return min(most, self._left - passed)

    def handed_over(self) -> list[Outcome]:
        """Return the outcomes since the last call; the caller judges those without findings."""
        outcomes, self.outcomes = self.outcomes, []
        self._unseen.clear()
        return outcomes

    def _use_wait(self, case: Case) -> None:
        """While the answer runs on a case, prepare that case, and judge an earlier outcome.

        The other outcomes are judged with the whole answer, which has its own time limit.
        """
        began = CLOCK.now()
        look_at(self._exercise, case)
        if self._unseen and self._sought < LOOKING.cpu:
            seen, outcome = self._unseen.popleft()
            start = time.process_time()
            if (found := self._find(seen, outcome)) is not None:
                self.found[seen.name] = found
            self._sought += time.process_time() - start
        self._looked += CLOCK.now() - began

    def _is_hopeless(self, case: Case, outcome: Outcome) -> bool:
        if outcome.ended == "out of time":
            self.timed_out = True
            self._gone.add(case.aspect)
            self._cpu, self._wall = min(self._cpu, CPU_AFTER_TIMEOUT), min(self._wall, 5.0)
            return self._exercise.aspects[0].key in self._gone
        self.is_stub = outcome.ended == "not attempted"
        return self.is_stub
