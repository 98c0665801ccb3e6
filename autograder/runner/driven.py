"""How answers are exercised that PyTorch calls, such as a backend of `torch.compile`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from autograder.runner.call import Answer, call_watched, run_recorded


def driven(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
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
