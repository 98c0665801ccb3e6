"""Functions that must be traceable.

A function of tensors that FX can trace.

**Input.** Tensors.

**Result.** A tensor, with the dtype that the task names.

* The check runs your function. Then it traces the function, and runs the trace on the same inputs.
* Both must give the right result, so a branch on a value is not enough.
"""

from __future__ import annotations

from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, encode_result, run_recorded, run_result
from autograder.runner.canary import inputs_alone
from autograder.runner.exceptions import is_stub, record_of

RIGHT = """\
def NAME(x):
    return torch.sigmoid(x)
"""


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function of tensors, then its trace."""
    for inputs in trial.inputs:
        outcome.runs.append({"eager": run_recorded(answer, answer, inputs, trial, encoder)})
    graph_module = trace_of(answer, trial, outcome, encoder)
    if graph_module is not None:
        run_result(graph_module, trial, outcome, encoder)


def trace_of(
    answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder
) -> fx.GraphModule | None:
    """Trace a function, and record the trace as the value; ``None`` if it cannot be traced."""
    try:
        graph_module = fx.symbolic_trace(answer)
    except Exception as error:
        if is_stub(error):
            raise
        outcome.value = {"trace_error": record_of(error)}
        return None
    outcome.value = encode_result(graph_module, trial, encoder)
    return graph_module


KIND = AnswerKind(
    run,
    canary_trial=inputs_alone,
    call="fx.symbolic_trace({})(x), for each x below".format,
    calls=lambda trial: [(inputs, {}) for inputs in trial.inputs],
    is_wrapped=False,
)
