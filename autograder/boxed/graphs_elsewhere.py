"""What the judge sends out: builders of cases, and graphs that are to be run where no key is."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from autograder.boxed.claims import sound_result
from autograder.core.case_builder import builder_of
from autograder.core.exercise import Case
from autograder.core.graph_jobs import JobResult
from autograder.core.outcome import Outcome
from autograder.sandbox.client import Process, ProcessLost

if TYPE_CHECKING:
    from autograder.boxed.notebook_run import Supply

PATIENCE = 50.0
"""Seconds for one job with a graph, without those in which it waits for a processor. Most jobs that
take long end sooner, by the processor time that one may take."""

LIVES = 2
"""How many processes the graphs of one answer may use up."""

_GONE = {"not admitted": "running it took too much time or memory, or ended Python"}


class _Reading(pickle.Unpickler):
    """Unpickles, and notes from which modules."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.modules: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        """Look up a name of a module."""
        self.modules.add(module)
        return super().find_class(module, name)


def modules_of(cases: Iterable[Case]) -> set[str]:
    """Names of the modules that must be there where these cases are built."""
    found: set[str] = set()
    for case in cases:
        reading = _Reading(builder_of(case))
        reading.load()
        found |= reading.modules
    return found


class GraphsElsewhere:
    """Has jobs with the graphs of one answer done in a process of its own.

    Args:
        supply: where processes come from.
    """

    def __init__(self, supply: Supply) -> None:
        self._supply, self._left = supply, LIVES
        self._process: Process | None = None

    def __call__(self, job: str, case: Case, outcome: Outcome, seed: int, inputs: int) -> JobResult:
        """Do a job; see `core.graph_jobs.do_job`."""
        stream = io.BytesIO()
        outcome.write(stream)
        step: dict[str, Any] = {"do": "job", "job": job}
        try:
            if self._process is None:
                self._left -= 1
                if self._left < 0:
                    return _GONE, []
                self._process = self._supply.process("graphs")
            blobs = [builder_of(case), stream.getvalue()]
            _, answer = self._process.step(step, blobs, patience=PATIENCE)
        except ProcessLost:
            self.close()
            return _GONE, []
        return sound_result(job, answer, inputs)

    def close(self) -> None:
        """Let the process end."""
        if self._process is not None:
            self._process.close()
        self._process = None
