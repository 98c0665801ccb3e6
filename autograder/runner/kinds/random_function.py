"""Functions that draw random numbers.

A function of tensors whose trace draws new numbers in every call.

**Input.** Tensors.

**Result.** Tensors with random parts.

* The check calls your function twice in a row, and also its trace. It sets no seed between the two
  calls.
* Two calls must give different numbers, in the trace as well.
"""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.limits import bounded_output
from autograder.core.outcome import Outcome, Way
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, run_recorded
from autograder.runner.canary import inputs_alone
from autograder.runner.kinds.traced_function import trace_of

RIGHT = """\
def NAME(x):
    return torch.sigmoid(x)
"""


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function of tensors that draws random numbers, and its trace, twice in each run.

    No seed is set between the two calls.
    """

    def twice(call: Answer) -> Answer:
        return lambda *args: (call(*args), call(*args))

    for inputs in trial.inputs:
        outcome.runs.append({"eager": run_recorded(twice(answer), answer, inputs, trial, encoder)})
    graph_module = trace_of(answer, trial, outcome, encoder)
    if graph_module is None:
        return
    with bounded_output(0):  # FX prints whole tracebacks when a graph's code fails
        for record, inputs in zip(outcome.runs, trial.inputs, strict=True):
            calls: dict[Way, Any] = {
                "forward": graph_module, "interpreter": fx.Interpreter(graph_module).run
            }  # fmt: skip
            for way, call in calls.items():
                record[way] = run_recorded(twice(call), graph_module, inputs, trial, encoder)


KIND = AnswerKind(
    run,
    canary_trial=inputs_alone,
    call="gm = fx.symbolic_trace({}); gm(x), gm(x)".format,
)
