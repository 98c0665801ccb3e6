"""An answer kind, as the runner uses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from autograder.runner.call import Answer
from autograder.runner.canary import small_model

Call = tuple[tuple[Any, ...], dict[str, Any]]


def _one_call(trial: Trial) -> list[Call]:
    return [(trial.args, trial.kwargs)]


@dataclass(frozen=True)
class AnswerKind:
    """The functions that run and call answers of one kind.

    Attributes:
        run: runs an answer on a case, and records the result in an outcome.
        canary_trial: makes the objects of the canary's case from a seed.
        call: makes the text of a call from the answer's name and the case; by default, a call with
            the case's arguments.
        calls: makes the arguments of each call of an answer on a case.
        is_wrapped: whether a wrapped answer runs in the same way as the answer itself.
        has_film: whether a failing card shows step by step how an answer makes or changes a graph.
            PyTorch's compilers, which call some answers, may take too long for a card.
    """

    run: Callable[[Answer, Trial, Outcome, Encoder], None]
    canary_trial: Callable[[int], Trial] = small_model
    call: Callable[[str, Trial], str] | None = None
    calls: Callable[[Trial], list[Call]] = _one_call
    is_wrapped: bool = True
    has_film: bool = False
