"""The subject of a question: an answer, and a small model on which it is right."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import torch

from autograder.asking.changed_answer import (
    LIMITS,
    CannotCompare,
    Print,
    judged,
    print_of,
)
from autograder.asking.code import Code
from autograder.asking.counted_run import run_counted
from autograder.asking.small_models import SmallModel
from autograder.asking.usage import use_of
from autograder.asking.watched_run import Arrival, watch
from autograder.core.exercise import Exercise, Trial
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import bounded_output, time_limit

_T = TypeVar("_T")


@dataclass
class Subject:
    """An answer and a model. Each run uses new objects.

    Attributes:
        exercise: the exercise.
        code: the answer.
        model: the model.
        others: other right answers, whose results count as right.
        tiny: further subjects with models of one or two lines, by a key.
    """

    exercise: Exercise
    code: Code
    model: SmallModel
    others: tuple[Code, ...] = ()
    tiny: dict[str, Subject] = field(default_factory=dict)

    @cached_property
    def is_right(self) -> bool:
        """Whether the check finds the answer right on this model."""
        return judged(self.exercise, self.code, self.model.case).result == "right"

    @cached_property
    def prints(self) -> list[Print]:
        """The results of the answer and of other right answers, for the second way."""
        found = []
        for code in (self.code, *self.others):
            try:
                made = print_of(self.exercise, code, self.model)
            except CannotCompare:
                made = None
            if made is None and code is self.code:
                return []
            found += [made] if made is not None else []
        return found

    @cached_property
    def arrivals(self) -> list[Arrival]:
        """The lines of the answer that run, in order: the first way."""
        answer = self.code.load()
        return self._quietly(
            lambda: watch(self.code.places, lambda: self._use(answer, self.model.trial()))
        )

    def counted(self, name: str = "") -> list[tuple[int, str]]:
        """The same as pairs of a line and a variable's value: the second way."""
        return self._quietly(
            lambda: run_counted(
                self.code, lambda answer: self._use(answer, self.model.pasted()), name
            )
        )

    @cached_property
    def counts(self) -> Counter[int]:
        """Count the arrivals at each line."""
        return Counter(arrival.line for arrival in self.arrivals)

    def draws_numbers(self, answer: Any) -> bool:
        """Use the answer once, and return whether it drew random numbers."""

        def work() -> bool:
            trial = self.model.trial()
            before = torch.get_rng_state(), random.getstate()
            self._use(answer, trial)
            return (
                not torch.equal(before[0], torch.get_rng_state()) or before[1] != random.getstate()
            )

        return self._quietly(work)

    def again(self) -> Subject:
        """The same without anything that was computed."""
        return Subject(self.exercise, self.code, self.model, self.others, self.tiny)

    def _use(self, answer: Any, trial: Trial) -> Any:
        return use_of(self.exercise.kind)(answer, trial)

    def _quietly(self, work: Callable[[], _T]) -> _T:
        with preserve_global_state(), bounded_output(0), time_limit(LIMITS):
            return work()
