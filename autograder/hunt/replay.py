"""A counterexample once more: what a file that ``fxcourse hunt`` has written calls."""

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
    """See that a pass is right about a model.

    Args:
        change: the pass.
        model: the model, in the mode in which it is tried.
        inputs: argument tuples.
        oracle: from a model to what is right; the model itself if there is none.
        given: what the pass is given.
        aspects: in what the two must not differ.

    Raises:
        AssertionError: it is not, and the message says in what.
        Useless: the model says nothing about passes, because it cannot be run or captured.
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
    assert failure is None, failure.says


__all__ = ["Useless", "demand"]
