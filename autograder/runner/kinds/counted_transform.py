"""Passes that count.

A pass that also returns the number of its changes.

**Input.** A model, and other arguments that the task names.

**Result.** A pair: the new `GraphModule`, and the number of changes.

* The check describes and runs the module, as for a pass.
* It compares the number with the right number of changes.
"""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import call_watched, encode_result, run_result

RIGHT = """\
def NAME(model):
    return with_function(fx.symbolic_trace(model), torch.sigmoid), 1
"""


def run(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a pass that returns ``(graph module, count)``.

    The value is the module's description, as for a pass, and the count under ``"count"``. Any other
    result is recorded as it is.
    """
    result = call_watched(answer, trial, outcome)
    outcome.value = encode_result(result, trial, encoder)
    if not isinstance(result, tuple) or tuple.__len__(result) != 2:
        return
    graph_module = tuple.__getitem__(result, 0)
    if isinstance(graph_module, fx.GraphModule):
        module, count = outcome.value["tuple"]
        outcome.value = {**module, "count": count}
        run_result(graph_module, trial, outcome, encoder)


KIND = AnswerKind(run, has_film=True)
