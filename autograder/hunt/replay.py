"""The test that a file written by ``fxcourse hunt --save`` calls."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from torch import nn

from autograder.core.exercise import Trial
from autograder.hunt.behaviour import EVERYTHING
from autograder.hunt.loading import as_change, as_oracle
from autograder.hunt.trying import Given, Question, Useless, attempt, subject


def demand(
    change: Callable[[Any], Any],
    model: nn.Module,
    inputs: Sequence[tuple[Any, ...]],
    *,
    oracle: Callable[[nn.Module], Any] | None = None,
    given: Given = "trace",
    aspects: Sequence[str] = EVERYTHING,
) -> None:
    """Demand that a pass is right on a model.

    Args:
        change: the pass.
        model: the model, in the mode for the test.
        inputs: argument tuples.
        oracle: from a model to the expected one; ``None`` expects the model itself.
        given: the input of the pass.
        aspects: the aspects in which the two must not differ.

    Raises:
        AssertionError: if the pass is wrong; the message names the difference.
        Useless: if the model cannot test a pass, because it cannot be run or captured.
    """
    trial = Trial(args=(), model=model, inputs=tuple(inputs))
    question = Question(
        as_change(change),
        as_oracle(oracle) if oracle else None,
        given,
        aspects,
        first_only=given in ("program", "aten"),
    )

    def make() -> Trial:
        return replace(trial, model=copy.deepcopy(model))

    failure = attempt(subject(make, question), question)
    assert failure is None, ". ".join(filter(None, (failure.says, failure.where)))


__all__ = ["Useless", "demand"]
