"""Interpreters.

A subclass of `fx.Interpreter` that runs some operations in another way.

**Input.** A graph module, when an object of your class is made.

**Result.** The values of the graph, with the operations changed as the task describes.

* One object runs all inputs of a case, one after the other. One run must not influence the next.
* The graph itself must not change: an Interpreter acts while the graph runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import fx

from autograder.core.codec import Encoder
from autograder.core.execution import CallResult, ErrorRecord, run_once
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import call_watched
from autograder.runner.canary import of_trace
from autograder.runner.exceptions import is_stub, record_of

RIGHT = """\
class NAME(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        target = torch.sigmoid if target is torch.relu else target
        return super().call_function(target, args, kwargs)
"""


def run(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a subclass of `fx.Interpreter`: one object runs all inputs, one after the other."""
    if not is_made_from(fx.Interpreter, answer, outcome):
        return

    def work(gm: fx.GraphModule) -> None:
        runner = answer(gm)
        for inputs in trial.inputs:
            outcome.runs.append({"forward": record_run(runner.run, inputs, trial, encoder)})

    call_watched(work, trial, outcome)


def is_made_from(base: type, answer: Any, outcome: Outcome) -> bool:
    """Whether the answer is a subclass of `base`; if not, the outcome's value says what it is."""
    if isinstance(answer, type) and issubclass(answer, base):
        return True
    name = f"`fx.{base.__name__}`"
    if isinstance(answer, type):
        outcome.value = f"a class that is not made from {name}"
    else:
        outcome.value = f"a `{type(answer).__name__}`, not a class made from {name}"
    return False


def record_run(call: Callable[..., Any], inputs: Any, trial: Trial, encoder: Encoder) -> CallResult:
    """Run an interpreter once, and record the run."""

    def on_error(error: Exception) -> ErrorRecord:
        error = as_it_was_raised(error)
        if is_stub(error):
            raise error
        return record_of(error)

    return run_once(call, inputs, encoder, owner=trial.model, log=trial.log, on_error=on_error)


def as_it_was_raised(error: Exception) -> Exception:
    """Remove the report of `Interpreter.run` from an untouched stub's error."""
    if type(error) is NotImplementedError and str(error).startswith("While executing"):
        error.args = ()
    return error


KIND = AnswerKind(run, canary_trial=of_trace)
