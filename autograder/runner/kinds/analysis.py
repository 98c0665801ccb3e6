"""Analyses.

A function that reads a model or a graph and returns data.

**Input.** A model or a graph module, and sometimes inputs.

**Result.** Numbers, names, lists or dictionaries, in the form that the task describes. Types count:
a list is not a tuple.

* The check compares the value with the right one for each case.
* Your function must not change the model or graph, and must keep nothing from one call to the next.
* If there are random models, the right value is computed by a method that differs from the
  solution's.
"""

from __future__ import annotations

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, call_watched, encode_result

RIGHT = """\
def NAME(model):
    return len(fx.symbolic_trace(model).graph.nodes)
"""
SPOILT = ("nodes)", "nodes) + 1")


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function of a model whose result is data."""
    result = call_watched(answer, trial, outcome)
    if trial.meanwhile is not None:
        trial.meanwhile(answer)
    outcome.value = encode_result(result, trial, encoder)


KIND = AnswerKind(run)
