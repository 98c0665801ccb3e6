"""How answers are exercised that return a graph module and a number."""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.exercise import Trial
from autograder.outcome import Outcome
from autograder.plain import Encoder


def counted_transform(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A pass that returns ``(graph module, count)``.

    The description of the module becomes the value, as for a pass; the count stands beside
    it, under ``"count"``. Anything else that comes back is recorded as it is.
    """
    from autograder.run import procedures

    result = procedures._call(answer, trial, outcome)
    outcome.value = procedures.encode_result(result, trial, encoder)
    if type(result) is tuple and len(result) == 2 and isinstance(result[0], fx.GraphModule):
        module, count = outcome.value["tuple"]
        outcome.value = {**module, "count": count}
        procedures._run_result(result[0], trial, outcome, encoder)
