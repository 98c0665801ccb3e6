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
    """Run an answer that the case passes to PyTorch.

    The case's only argument takes the answer, and returns the callable to run on each of the
    inputs. Dynamo's compiled code is discarded before and afterwards.
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
    """Discard everything that Dynamo has compiled, at the beginning and at the end."""
    _forget()
    try:
        yield
    finally:
        _forget()


def _forget() -> None:
    """Reset Dynamo if it is already imported; the import takes seconds."""
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()


def _unwrapping(call: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a call so that it raises a backend's own exception instead of PyTorch's wrapper."""

    def unwrapped(*args: Any) -> Any:
        try:
            return call(*args)
        except Exception as error:
            known = sys.modules.get("torch._dynamo.exc")  # not imported, because that takes seconds
            if known is None or not isinstance(error, known.BackendCompilerFailed):
                _as_it_was_raised(error)
                raise
            raise _as_it_was_raised(error.inner_exception) from None

    return unwrapped


def _as_it_was_raised(error: Exception) -> Exception:
    """Remove the advice that Dynamo adds to an exception's message."""
    text, advice, _ = str(error).partition("\n\nSet TORCHDYNAMO_VERBOSE")
    if advice and type(error).__str__ is Exception.__str__:
        error.args = (text,) if text else ()
    return error


class ByHand:
    """Uses an answer as a backend by calling it with a trace of the small model."""

    says = "{name}(gm, [])"

    def __call__(self, answer: Answer) -> Any:
        """The answer's result for the trace."""
        return answer(fx.symbolic_trace(Small()), [])


def _canary_trial(seed: int) -> Trial:
    return Trial(args=(ByHand(),), model=Small(), inputs=small_inputs())


KIND = AnswerKind(
    run,
    canary_trial=_canary_trial,
    call=lambda name, trial: str(trial.args[0].says).format(name=name),
)
