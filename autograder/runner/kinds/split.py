"""Cuts in two.

A function that cuts a model into two graph modules.

**Input.** A model, and the place to cut.

**Result.** Two graph modules. The second takes what the first returns.

* The check describes both graphs, and runs them one after the other.
* It looks at the values that cross the cut: exactly those that the second part needs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from torch import fx, nn

from autograder.core.codec import Encoder
from autograder.core.execution import run_both
from autograder.core.exercise import Trial
from autograder.core.graph_record import describe
from autograder.core.limits import bounded_output
from autograder.core.outcome import Outcome, Way
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import call_watched, encode_result, run_recorded

RIGHT = """\
def NAME(model):
    head, tail = fx.Graph(), fx.Graph()
    x = head.placeholder("x")
    head.output((head.call_module("layer", (x,)),))
    y = tail.call_function(torch.relu, (tail.placeholder("y"),))
    tail.output(tail.call_function(operator.add, (y, 1)))
    return fx.GraphModule(model, head), fx.GraphModule(model, tail)
"""
SPOILT = ("(y, 1)", "(y, 2)")


def run(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a function that returns two graph modules; the second takes the results of the first.

    The value is the first module's description, as for a pass, and the second's under ``"tail"``.
    Any other result is recorded as it is. In each record of a run, ``crossing`` is the return value
    of the first module.
    """
    result = call_watched(answer, trial, outcome)
    if not is_pair(result):
        outcome.value = encode_result(result, trial, encoder)
        return
    head, tail = result
    outcome.value = {
        "graph_module": describe(head, encoder, trial.model),
        "tail": describe(tail, encoder, trial.model),
    }
    with bounded_output(0):  # FX prints whole tracebacks when a graph's code fails
        for i, inputs in enumerate(trial.inputs):
            outcome.runs.append({})
            for how, (first, second) in _ways(head, tail, i == 0 and trial.copied).items():
                both = nn.ModuleList([head, tail])

                def run(call: Any, both: nn.Module = both, inputs: Any = inputs) -> Any:
                    return run_recorded(call, both, inputs, trial, encoder)

                outcome.runs[i][how] = run_both(first, second, encoder, run)


def is_pair(result: Any) -> bool:
    """Whether this is a tuple of two graph modules."""
    return (
        isinstance(result, tuple)
        and len(result) == 2
        and all(isinstance(part, fx.GraphModule) for part in result)
    )


def _ways(head: fx.GraphModule, tail: fx.GraphModule, copied: bool) -> dict[Way, Any]:
    ways: dict[Way, Any] = {
        "forward": (head, tail),
        "interpreter": (_interpret(head), _interpret(tail)),
    }
    if copied:
        ways["copy"] = (_copy(head), _copy(tail))
    return ways


def _interpret(gm: fx.GraphModule) -> Callable[..., Any]:
    return lambda *args: fx.Interpreter(gm).run(*args)


def _copy(gm: fx.GraphModule) -> Callable[..., Any]:
    return lambda *args: copy.deepcopy(gm)(*args)


KIND = AnswerKind(run, has_film=True)
