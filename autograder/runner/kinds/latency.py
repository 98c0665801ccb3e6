"""Measurements.

A function that measures callables.

**Input.** Callables that record how they are called.

**Result.** The figures that the task describes.

* The record shows the warm-up, the order of the calls, and whether gradients were on.
* The check does not grade times. It grades how you measured, and that you restored every setting.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome, RunRecord
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, call_watched, run_recorded
from autograder.runner.canary import Small, small_inputs

RIGHT = """\
def NAME(a, b, inputs):
    return a(*inputs)
"""
SPOILT = ("a(*inputs)", "a(*inputs) + b(*inputs)")

ON, OFF = "gradients on", "gradients off"


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function that measures callables of the case, which log their calls in the trial's log.

    An input of the case is one call: `ON` or `OFF` for gradients, and the call's keywords. The
    record of a run also has ``afterwards``: whether gradients are still on.
    """
    for inputs in trial.inputs:
        outcome.runs.append(_measured(answer, trial, outcome, encoder, *inputs))


def _measured(
    answer: Answer,
    trial: Trial,
    outcome: Outcome,
    encoder: Encoder,
    gradients: str,
    keywords: dict[str, Any],
) -> RunRecord:
    afterwards = gradients == ON

    def call(*_: Any) -> Any:
        nonlocal afterwards
        measure = partial(answer, **keywords)
        with torch.set_grad_enabled(gradients == ON):
            try:
                return call_watched(measure, trial, outcome, *trial.args)
            finally:
                afterwards = torch.is_grad_enabled()

    record = run_recorded(call, None, (gradients, keywords), trial, encoder)
    return {"forward": record, "afterwards": afterwards}


def _canary_trial(seed: int) -> Trial:
    model = Small()
    return Trial(args=(model, model, small_inputs()[0]), inputs=((ON, {}), (OFF, {})))


KIND = AnswerKind(run, canary_trial=_canary_trial)
