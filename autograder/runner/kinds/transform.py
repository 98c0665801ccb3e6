"""Passes.

A function that takes a model and returns a new `GraphModule`.

**Input.** A model, and other arguments that the task names, such as a function to replace.

**Result.** A `GraphModule` that does what the task describes. Everything else stays unchanged.

* The check describes your graph node by node and compares it with rules: arguments, targets, order,
  `lint`, and code that follows the graph.
* It runs the module on several inputs, and compares the results with the expected ones.
* Your function must not change the given model: its parameters, buffers, modes, hooks and
  submodules.
* If there are random models, the check tries your pass on them at the end. The card shows the
  smallest one on which it fails.
"""

from __future__ import annotations

from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, call_watched, encode_result, run_result

RIGHT = """\
def NAME(model):
    return with_function(fx.symbolic_trace(model), torch.sigmoid)
"""


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a pass; describe and run the graph module that it returns."""
    transformed(answer, trial, outcome, encoder)


def transformed(
    answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder
) -> fx.GraphModule | None:
    """Run a pass, and return its result; ``None`` if it is not a graph module."""
    result = call_watched(answer, trial, outcome)
    if trial.then is not None and isinstance(result, fx.GraphModule):
        result = call_watched(answer, trial, outcome, trial.then(result))
    if trial.meanwhile is not None and isinstance(result, fx.GraphModule):
        trial.meanwhile(answer)
    outcome.value = encode_result(result, trial, encoder)
    if not isinstance(result, fx.GraphModule):
        return None
    run_result(result, trial, outcome, encoder)
    return result


KIND = AnswerKind(run, has_film=True)
