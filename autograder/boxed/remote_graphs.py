"""Runs described graphs in another process, without answer keys; finds the modules for cases."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable
from typing import Any

from autograder.boxed.process_source import ProcessSource
from autograder.boxed.untrusted import parse_result
from autograder.core.case_builder import builder_of
from autograder.core.exercise import Case
from autograder.core.graph_jobs import JobResult
from autograder.core.outcome import Outcome
from autograder.core.process_exit import ExitReason, ProcessExit
from autograder.sandbox.client import Process, ProcessLost

JOB_SECONDS = 50.0
"""Seconds for one job with a graph, without waiting for a processor. Most slow jobs end sooner, at
their limit of processor time."""

MAX_GRAPH_PROCESSES = 2
"""Number of processes that the graphs of one answer may use up, on visible cases and on others."""

_GONE = {"not admitted": "running it took too much time or memory, or ended Python"}


class _ModuleCollector(pickle.Unpickler):
    """Unpickles, and records the modules of the names that it looks up."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.modules: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        """Look up a name of a module."""
        self.modules.add(module)
        return super().find_class(module, name)


def modules_of(cases: Iterable[Case]) -> set[str]:
    """Names of the modules that building these cases needs."""
    found: set[str] = set()
    for case in cases:
        reading = _ModuleCollector(builder_of(case))
        reading.load()
        found |= reading.modules
    return found


class RemoteGraphRunner:
    """Does jobs with the graphs of a notebook's answers in another process.

    All answers of a notebook share the process. An answer that breaks it must not harm another one.
    So if a graph fails in a process that an earlier answer has used, the job is done again in a new
    one.

    Args:
        supply: the source of processes.
    """

    def __init__(self, supply: ProcessSource) -> None:
        self._supply, self._left = supply, MAX_GRAPH_PROCESSES
        self._process: Process | None = None
        self._inherited = False
        self._meanwhile: Callable[[], object] | None = None

    def begin_answer(self, meanwhile: Callable[[], object] | None = None) -> None:
        """Begin the jobs of another answer; `meanwhile` is called during each of them."""
        self._left, self._inherited = MAX_GRAPH_PROCESSES, self._process is not None
        self._meanwhile = meanwhile

    def __call__(self, job: str, case: Case, outcome: Outcome, seed: int, inputs: int) -> JobResult:
        """Do a job; see `core.graph_jobs.do_job`."""
        stream = io.BytesIO()
        # The rest of the outcome is not needed there, and would take time to write and read.
        Outcome("", value=outcome.value, tensors=outcome.tensors).write(stream)
        blobs = [builder_of(case), stream.getvalue()]
        try:
            result = parse_result(job, self._answer(job, blobs), inputs)
        except ProcessLost:
            self.close()
            result = _GONE, []
        except BaseException:  # out of time: a later answer would be taken for that to the next job
            self.close()
            raise
        if self._inherited and _is_refused(result):
            self.close()
            self._inherited = False
            return self(job, case, outcome, seed, inputs)
        return result

    def _answer(self, job: str, blobs: list[bytes]) -> list[bytes]:
        """Let the process do a job, and return its answer.

        Raises:
            ProcessLost: it is gone, or no other one is allowed.
        """
        if self._process is None:
            if self._left == 0:
                raise ProcessLost(ProcessExit(ExitReason.EXITED))
            self._left -= 1
            self._process = self._supply.process("graphs")
        step = {"do": "job", "job": job}
        return self._process.step(step, blobs, patience=JOB_SECONDS, meanwhile=self._meanwhile)[1]

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
        self._process = None


def _is_refused(result: JobResult) -> bool:
    found, _ = result
    return isinstance(found, dict) and "not admitted" in found
