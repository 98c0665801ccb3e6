"""Timers.

An interpreter that notes how long operations take.

**Input.** A graph module, when an object of your class is made.

**Result.** The values of the graph, unchanged, and the notes that the task describes.

* The check reads the notes after each run: counts must be right, and times must be possible.
* One object runs all inputs, then another object runs the first input again. Their notes must not
  mix.
* Speed does not count.
"""

from __future__ import annotations

import time
from typing import Any

from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome, RunRecord
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import call_watched
from autograder.runner.canary import of_trace
from autograder.runner.kinds.interpreter import is_made_from, record_run

RIGHT = """\
class NAME(fx.Interpreter):
    def __init__(self, gm):
        super().__init__(gm)
        self.seconds, self.calls = {}, {}

    def slowest(self, n):
        return []

    def call_function(self, target, args, kwargs):
        target = torch.sigmoid if target is torch.relu else target
        return super().call_function(target, args, kwargs)
"""

SLOWEST_ASKED = (1, 2, 3, 0, 1_000)
"""The arguments of the calls of a timer's `slowest`."""


def run(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run an interpreter that records times and counts, and read these after each run.

    One object runs all inputs, then another object of the class runs the first one.
    """
    if not is_made_from(fx.Interpreter, answer, outcome):
        return

    def work(gm: fx.GraphModule) -> None:
        runner = answer(gm)
        for inputs in trial.inputs:
            outcome.runs.append(_timed_run(runner, inputs, trial, encoder))
        outcome.runs.append(_timed_run(answer(gm), trial.inputs[0], trial, encoder))

    call_watched(work, trial, outcome)


def _timed_run(runner: Any, inputs: Any, trial: Trial, encoder: Encoder) -> RunRecord:
    walls = [0.0]

    def call(*args: Any) -> Any:
        start = time.perf_counter()
        try:
            return runner.run(*args)
        finally:
            walls.append(time.perf_counter() - start)

    record = record_run(call, inputs, trial, encoder)
    return {
        "forward": record,
        "timer": {
            "wall": walls[-1],
            "seconds": encoder.encode(runner.seconds),
            "calls": encoder.encode(runner.calls),
            "slowest": [[n, encoder.encode(runner.slowest(n))] for n in SLOWEST_ASKED],
        },
    }


KIND = AnswerKind(run, canary_trial=of_trace)
