"""Passes on their own results.

A pass that can be applied to its own result.

**Input.** A function, or an earlier result of the pass.

**Result.** A `GraphModule`.

* The check applies the pass as many times as the case says, then describes and runs the last
  result.
* Each result must be a complete input again, with names, attributes and code that cause no trouble.
"""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer
from autograder.runner.kinds import transform

RIGHT = """\
def NAME(model):
    return with_function(fx.symbolic_trace(model), torch.sigmoid)
"""


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Apply a pass as often as the trial says; describe and run the last result."""

    def repeated(value: Any) -> Any:
        for _ in range(trial.times):
            value = answer(value)
            if not isinstance(value, fx.GraphModule):
                break  # this result is the mistake; another call would only hide it
        return value

    transform.run(repeated, trial, outcome, encoder)


KIND = AnswerKind(run, has_film=True)
