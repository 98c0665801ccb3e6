"""How an answer is exercised that returns decomposition rules: they are run on Proxies."""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.exercise import Trial
from autograder.outcome import Outcome
from autograder.plain import Encoder
from autograder.retrace import decomposed
from autograder.run.calls import Answer, call_watched, run_result
from autograder.run.errors import is_stub, record_of
from autograder.run.functions import encode_result


def rules(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function that returns a dictionary of rules.

    They are applied to the case's model, and the result is described and run as a pass's is. The
    functions that have rules stand beside it, under ``"keys"``. If a rule raises, its exception
    is recorded in place of a result.
    """
    found = call_watched(answer, trial, outcome)
    if not isinstance(found, dict):
        outcome.value = encode_result(found, trial, encoder)
        return
    keys = {"list": [encoder.encode(key) for key in found]}
    try:
        result = _applied(found, trial)
    except Exception as error:
        if is_stub(error):
            raise
        outcome.value = {"rule_error": record_of(error), "keys": keys}
        return
    outcome.value = encode_result(result, trial, encoder) | {"keys": keys}
    run_result(result, trial, outcome, encoder)


def _applied(found: dict[Any, Any], trial: Trial) -> fx.GraphModule:
    """The case's model, decomposed by an answer's rules."""
    if trial.model is None:
        raise TypeError("a case of rules has a model")
    return decomposed(trial.model, found)
