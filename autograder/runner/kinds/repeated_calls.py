"""Analyses that must not remember.

An analysis that is called on other models first.

**Input.** A model.

**Result.** Data about this model, and about no other model.

* The check calls your function on other models first, and writes down what it returns for them.
* At the end it compares these values again. A later call must not change the result of an earlier
  call.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autograder.core.codec import Encoded, Encoder
from autograder.core.execution import CallResult, error_record
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, call_watched, encode_result
from autograder.runner.canary import Small, small_model
from autograder.runner.exceptions import is_stub

RIGHT = """\
def NAME(model):
    return [name for name, _ in model.named_parameters()]
"""
SPOILT = ("()]", "()][::-1]")


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function whose result is data, on the models of `trial.watch` and then on the case's.

    Each earlier call is a run with a value or an error. Its value is recorded twice: right after
    the call as ``then``, and at the end as ``value``, because a later call must not change an
    earlier result. `trial.meanwhile` runs before the last call.
    """
    earlier: list[tuple[bool, Any, Encoded]] = []
    for model in trial.watch:
        try:
            value = call_watched(answer, trial, outcome, model)
            earlier.append((True, value, encoder.encode(value)))
        except Exception as error:
            if is_stub(error):
                raise
            earlier.append((False, error_record(error), None))
    if trial.meanwhile is not None:
        trial.meanwhile(answer)
    last = call_watched(answer, trial, outcome)
    for worked, value, then in earlier:
        record: CallResult = (
            {"value": encoder.encode(value), "then": then} if worked else {"error": value}
        )
        outcome.runs.append({"forward": record})
    outcome.value = encode_result(last, trial, encoder)


def _canary_trial(seed: int) -> Trial:
    return replace(small_model(seed), watch=(Small(),))


KIND = AnswerKind(run, canary_trial=_canary_trial)
