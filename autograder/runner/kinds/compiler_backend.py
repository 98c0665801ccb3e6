"""Answers that PyTorch calls.

A function or a class that PyTorch calls: `torch.compile` calls a backend, a pass manager calls a
pass.

**Input.** The arguments of the caller, for example a graph module and example inputs.

**Result.** The value that the caller expects, for example a callable that runs the graph.

* Each case uses your answer, for example as a backend of `torch.compile`, and runs the result on
  inputs.
* Each case starts fresh: nothing that was compiled for an earlier case is used again.
* The card shows how your answer was used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import Answer, call_watched, run_recorded
from autograder.runner.canary import Small, small_inputs

RIGHT = """\
def NAME(gm, example_inputs):
    return with_function(gm, torch.sigmoid)
"""


def run(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """An answer that the case itself puts to work.

    The case's one argument takes the answer, and gives what is run on the inputs, one after the
    other; nothing that Dynamo has compiled before is used, and nothing is left behind.
    """
    (drive,) = trial.args

    def work(_: Any) -> None:
        made = _unwrapping(drive(answer))
        for inputs in trial.inputs:
            record = run_recorded(made, trial.model, inputs, trial, encoder)
            outcome.runs.append({"forward": record})

    with fresh_dynamo():
        call_watched(work, trial, outcome)


@contextmanager
def fresh_dynamo() -> Iterator[None]:
    """Begin without anything that Dynamo has compiled, and leave nothing."""
    _forget()
    try:
        yield
    finally:
        _forget()


def _forget() -> None:
    """Reset Dynamo, where somebody has imported it: that takes seconds."""
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()


def _unwrapping(call: Callable[..., Any]) -> Callable[..., Any]:
    """The call, with a backend's own exception in place of the one that PyTorch puts around it."""

    def unwrapped(*args: Any) -> Any:
        try:
            return call(*args)
        except Exception as error:
            known = sys.modules.get("torch._dynamo.exc")  # to import it here would take seconds
            if known is None or not isinstance(error, known.BackendCompilerFailed):
                _as_it_was_raised(error)
                raise
            raise _as_it_was_raised(error.inner_exception) from None

    return unwrapped


def _as_it_was_raised(error: Exception) -> Exception:
    """An exception without the advice that Dynamo adds to its message."""
    text, advice, _ = str(error).partition("\n\nSet TORCHDYNAMO_VERBOSE")
    if advice and type(error).__str__ is Exception.__str__:
        error.args = (text,) if text else ()
    return error


class ByHand:
    """Puts an answer to work as a backend: calls it with a trace of the small model."""

    says = "{name}(gm, [])"

    def __call__(self, answer: Answer) -> Any:
        """What the answer makes of the trace."""
        return answer(fx.symbolic_trace(Small()), [])


def _canary_trial(seed: int) -> Trial:
    return Trial(args=(ByHand(),), model=Small(), inputs=small_inputs())


KIND = AnswerKind(
    run,
    canary_trial=_canary_trial,
    call=lambda name, trial: str(trial.args[0].says).format(name=name),
)
