"""Duels.

A model on which a given pass is wrong.

**Input.** Nothing. The task shows the suspect, a pass that looks right.

**Result.** A class of a model, with arguments for it as the class attribute `inputs`.

* The check makes and traces your model once, in eval mode. The suspect and some right passes each
  change a trace of their own.
* You win if the suspect's result differs from your model's, and the results of the right passes do
  not.
* A model must give the same result each time, and must be traceable. Otherwise it proves nothing.
* There is a limit to the size of the model.
"""

from __future__ import annotations

import copy
from typing import Any

from torch import fx, nn

from autograder.core.codec import Encoded, Encoder
from autograder.core.execution import CallResult, ErrorRecord, seed_all
from autograder.core.exercise import Trial
from autograder.core.graph_record import describe
from autograder.core.input_codec import describe_inputs, inputs_of
from autograder.core.limits import bounded_output
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import run_recorded
from autograder.runner.canary import nothing
from autograder.runner.exceptions import is_stub, record_of

RIGHT = """\
class NAME(torch.nn.Module):
    inputs = (torch.tensor([[1.0, 2.0], [-3.0, 0.5]]),)

    def forward(self, x):
        return torch.sigmoid(x)
"""


class _Failed(Exception):
    """The model cannot be used; `step` names the step that failed, `record` is the exception."""

    def __init__(self, step: str, record: ErrorRecord) -> None:
        super().__init__(step)
        self.step, self.record = step, record


def run(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a model class, with its arguments as the class attribute ``inputs``.

    The model is made under the trial's seed, and traced once, in eval mode. The value is its trace,
    as for a pass; ``given`` are the inputs, and ``ran`` the results, each on copies of the inputs:
    of the model before and after tracing, and of the trace. An answer that is not such a class is
    described in words. If a model fails, ``failed`` names the step, and ``error`` is the exception.
    """
    words = _why_unusable(answer)
    if words:
        outcome.value = words
        return
    try:
        given = describe_inputs(answer.inputs, encoder)
    except ValueError as error:
        outcome.value = f"a class whose `inputs` hold {error}"
        return
    try:
        with bounded_output(0):  # FX prints whole tracebacks when a graph's code fails
            inputs = inputs_of(given, encoder.tensors)
            outcome.value = _traced(answer, inputs, trial, encoder) | {"given": given}
    except _Failed as failed:
        outcome.value = {"failed": failed.step, "error": failed.record}


def _why_unusable(answer: Any) -> str:
    """A description of an answer that is not a model class with inputs; ``""`` if it is one."""
    if not isinstance(answer, type):
        return f"a `{type(answer).__name__}`, not a class"
    if not issubclass(answer, nn.Module):
        return "a class that is not made from `nn.Module`"
    inputs = getattr(answer, "inputs", None)
    if inputs is None:
        return "a class without a class attribute `inputs`"
    if not isinstance(inputs, tuple):
        return f"a class whose `inputs` are a `{type(inputs).__name__}`, not a tuple"
    return "" if inputs else "a class whose `inputs` are empty"


def _traced(
    answer: type[nn.Module], inputs: tuple[Any, ...], trial: Trial, encoder: Encoder
) -> dict[str, Encoded]:
    """The trace of a model of the class, and the results before and after tracing."""

    def run(model: nn.Module) -> CallResult:
        return run_recorded(lambda *args: copy.deepcopy(model)(*args), None, inputs, trial, encoder)

    seed_all(trial.made_under)
    model = _attempt("made", answer)
    _to_eval_mode(model)
    twin = _attempt("copied", lambda: copy.deepcopy(model))
    before = run(twin)
    if "error" in before:
        raise _Failed("run", before["error"])
    traced = _attempt("traced", lambda: fx.symbolic_trace(model))
    described = describe(traced, encoder)  # before a run can change it
    return {
        "graph_module": described,
        "ran": {
            "before": before,
            "after": run(model),
            "trace": run(traced),
        },
    }


def _to_eval_mode(model: nn.Module) -> None:
    """Switch to eval mode, even if the class has its own method `eval`."""
    for part in model.modules():
        part.training = False


def _attempt(step: str, work: Any) -> Any:
    try:
        return work()
    except Exception as error:
        if is_stub(error):
            raise
        raise _Failed(step, record_of(error)) from error


KIND = AnswerKind(run, canary_trial=nothing)
