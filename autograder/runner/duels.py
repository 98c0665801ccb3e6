"""How an answer is exercised that is a model itself: a class, with inputs on which it is run."""

from __future__ import annotations

import copy
from typing import Any

from torch import fx, nn

from autograder.core.codec import Encoder, Plain
from autograder.core.execution import seed_all
from autograder.core.exercise import Trial
from autograder.core.graph_record import describe
from autograder.core.input_codec import describe_inputs, inputs_of
from autograder.core.limits import bounded_output
from autograder.core.outcome import Outcome
from autograder.runner.call import run_recorded
from autograder.runner.exceptions import is_stub, record_of


class _Failed(Exception):
    """The model cannot be used; `step` says where that shows, `record` what was raised."""

    def __init__(self, step: str, record: Plain) -> None:
        super().__init__(step)
        self.step, self.record = step, record


def witness(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A class of a model, with arguments for it as the class attribute ``inputs``.

    The model is made under the trial's seed and traced once, in eval mode. Its trace becomes the
    value as for a pass; beside it, ``given`` are the inputs, and ``ran`` is what came of the
    model before it was traced, after that, and of the trace: each on copies of its own.
    What is no such class is described in words; of a model that fails, ``failed`` says at which
    step, and ``error`` what was raised.
    """
    words = _unfit(answer)
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


def _unfit(answer: Any) -> str:
    """What an answer is that is no model's class with inputs, in words; ``""`` if it is one."""
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
) -> dict[str, Plain]:
    """What came of a model of the class, before it was traced and after."""

    def run(model: nn.Module) -> Plain:
        return run_recorded(lambda *args: copy.deepcopy(model)(*args), None, inputs, trial, encoder)

    seed_all(trial.made_under)
    model = _attempt("made", answer)
    _to_eval_mode(model)
    twin = _attempt("copied", lambda: copy.deepcopy(model))
    before = run(twin)
    if "error" in before:
        raise _Failed("run", before["error"])
    traced = _attempt("traced", lambda: fx.symbolic_trace(model))
    described = describe(traced, encoder)  # now: what runs may change it
    return {
        "graph_module": described,
        "ran": {
            "before": before,
            "after": run(model),
            "trace": run(traced),
        },
    }


def _to_eval_mode(model: nn.Module) -> None:
    """As `eval` does, also where the class has a method of its own under that name."""
    for part in model.modules():
        part.training = False


def _attempt(step: str, work: Any) -> Any:
    try:
        return work()
    except Exception as error:
        if is_stub(error):
            raise
        raise _Failed(step, record_of(error)) from error
