"""The answer key of an exercise: what a good result has, and what must come of each case.

It lies beside the question, in a module of its own (``key.py``), which no process that runs
answers can import.
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
from autograder.judge.evidence import Evidence
from autograder.judge.references import MissingReference, stored
from autograder.judge.rule import Rule

Oracle = Callable[[Trial], Reference]
"""Works out what must come of a case from fresh objects of it, without the course's solution."""


@dataclass(frozen=True)
class RecipeOracle:
    """An oracle for random models that is told the model before the exercise completes it, and
    the number that chooses.

    So an exercise's `complete` need not leave behind what it has done, where an answer finds it.
    """

    work_out: Callable[[Trial, int], Reference]


@dataclass(frozen=True)
class AnswerKey:
    """What must come of an exercise's cases.

    Attributes:
        rules: the requirements for a result.
        oracle: what must come out, wherever no reference is stored beside the key.
        oracle_only: whether none is stored, even where the solution gives something else: it is
            held against a tolerance of the exercise's own, or differs from run to run.
        remark: what is said of an answer that passes, from what it did on the first case.
    """

    rules: tuple[Rule, ...]
    oracle: Oracle | RecipeOracle | None = None
    oracle_only: bool = False
    remark: Callable[[Evidence], str] | None = None

    def reference(self, exercise: Exercise, case: Case, seed: int = 0) -> Reference:
        """What must come of a case: as it is stored, or as the oracle says.

        Of one that asks for an exception, nothing must come.

        Raises:
            MissingReference: neither knows.
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
    """Whether it is known here what must come of a case: a wheel leaves out some hidden ones."""
    return stored(module_of(exercise)).get(case.name) != {}


def module_of(exercise: Exercise) -> str:
    """The name of the module that holds an exercise's key."""
    return exercise.key.partition(":")[0]


@lru_cache(maxsize=256)
def _key(place: str) -> AnswerKey:
    module, _, name = place.partition(":")
    key: AnswerKey = getattr(importlib.import_module(module), name or "KEY")
    return key


def forget() -> None:
    """Drop what was read of keys and references, after a file has changed."""
    _key.cache_clear()
    references.forget()


def key_of(exercise: Exercise) -> AnswerKey:
    """The answer key of an exercise."""
    return _key(exercise.key)
