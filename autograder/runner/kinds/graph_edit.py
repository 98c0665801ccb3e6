"""Edits of a graph module.

A function that changes a graph module, and returns a report.

**Input.** A graph module of ATen calls. The `meta` of each node describes its value.

**Result.** The report that the task describes, such as the number of places.

* The check describes and runs the changed module.
* The `meta` of each node must be true after the edit.
* The report must fit the changes.
"""

from __future__ import annotations

from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.fake_values import mode_of, val_text
from autograder.core.graph_record import describe, nodes_of
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, call_watched, encode_result, run_result
from autograder.runner.canary import Small, small_inputs

RIGHT = """\
def NAME(gm):
    with_function(gm, torch.sigmoid)
    return 1
"""


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function that changes a graph module, the case's only argument.

    The changed module is described and run. Each node's ``meta`` contains a description of its
    ``val``. The answer's return value is recorded under ``"returned"``.
    """
    (gm,) = trial.args
    mode = mode_of(gm.graph)
    returned = call_watched(answer, trial, outcome)
    described = describe(gm, encoder, trial.model)
    described["meta"] = [
        {"val": val_text(node.meta["val"], mode)} if "val" in node.meta else {}
        for node in nodes_of(gm.graph)
    ]
    outcome.value = {
        "graph_module": described,
        "returned": "the graph module"
        if returned is gm
        else encode_result(returned, trial, encoder),
    }
    run_result(gm, trial, outcome, encoder)


def _canary_trial(seed: int) -> Trial:
    model = Small()
    return Trial(args=(fx.symbolic_trace(model),), model=model, inputs=small_inputs())


KIND = AnswerKind(
    run,
    canary_trial=_canary_trial,
    call="{}(gm), where gm is the graph of the model".format,
    has_film=True,
)
