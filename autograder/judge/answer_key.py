"""The answer key of an exercise: the rules for a result, and the reference of each case.

It is in a module of its own (``key.py``), which no process that runs answers can import.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from autograder.core.exercise import Case, Exercise, Trial
from autograder.core.outcome import Reference
from autograder.fuzz.model_builder import Builder
from autograder.judge import references
from autograder.judge.advice_row import AdviceRow
from autograder.judge.evidence import Evidence
from autograder.judge.references import MissingReference, stored
from autograder.judge.rule import Rule

Oracle = Callable[[Trial], Reference]
"""Compute a case's reference from fresh objects, without the course's solution."""


@dataclass(frozen=True)
class RecipeOracle:
    """An oracle for random models, called before the exercise completes the model.

    It gets the model and the number that makes the choices. So an exercise's `complete` need not
    store its choice, where an answer could find it.
    """

    work_out: Callable[[Trial, int], Reference]


@dataclass(frozen=True)
class AnswerKey:
    """The expected results of an exercise's cases, and the rules for a result.

    Attributes:
        rules: the requirements for a result.
        oracle: computes the reference of a case that has no stored one.
        oracle_only: whether no reference is stored, even if the solution gives something else: the
            exercise has its own tolerance, or results differ from run to run.
        remark: a remark about an answer that passes, from its outcome on the first case.
        advice: rows of advice that only this exercise needs; see `advice_for`.
        fight: the duel's `judge.duels.Fight`, if the exercise is a duel.
    """

    rules: tuple[Rule, ...]
    oracle: Oracle | RecipeOracle | None = None
    oracle_only: bool = False
    remark: Callable[[Evidence], str] | None = None
    advice: tuple[AdviceRow, ...] = ()
    fight: object = None

    def reference(self, exercise: Exercise, case: Case, seed: int = 0) -> Reference:
        """The reference of a case, stored or computed by the oracle.

        A case that expects an exception has an empty one.

        Raises:
            MissingReference: the reference is not stored, and there is no oracle.
        """
        if case.expect.raises:
            return Reference()
        known = None if case.recipe else stored(module_of(exercise)).get(case.name)
        if known:
            return Reference.from_json(known)
        if known is not None:
            raise MissingReference(f"The reference of {case.name!r} is not installed.")
        if isinstance(self.oracle, RecipeOracle) and isinstance(case.make, Builder):
            return self.oracle.work_out(case.make.begin(seed), case.make.choice)
        if self.oracle is None or isinstance(self.oracle, RecipeOracle):
            raise MissingReference(
                f"No reference for {exercise.name!r}, case {case.name!r}. "
                "Run `fxcourse references`."
            )
        return self.oracle(case.make(seed))


def is_known(exercise: Exercise, case: Case) -> bool:
    """Whether a case's reference is available: a wheel lacks those of some hidden cases."""
    return stored(module_of(exercise)).get(case.name) != {}


def module_of(exercise: Exercise) -> str:
    """The name of the module that contains an exercise's key."""
    return exercise.key.partition(":")[0]


@lru_cache(maxsize=256)
def _key(place: str) -> AnswerKey:
    module, _, name = place.partition(":")
    key: AnswerKey = getattr(importlib.import_module(module), name or "KEY")
    return key


def forget() -> None:
    """Drop all cached keys and references, after a file has changed."""
    _key.cache_clear()
    references.forget()


def key_of(exercise: Exercise) -> AnswerKey:
    """The answer key of an exercise."""
    return _key(exercise.key)
