"""From recipes to cases: a random model in place of a hand-picked one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from autograder.core.exercise import RANDOM, Case, Trial
from autograder.core.outcome import Reference
from autograder.fuzz.codegen import program_of
from autograder.fuzz.grammar import Vocabulary
from autograder.fuzz.model_builder import Builder, as_it_is
from autograder.fuzz.recipe import Recipe
from autograder.fuzz.sampler import drawn
from autograder.fuzz.shrinker import shrunk

COUNT = 20
"""How many random models an answer is tried on when it is graded."""

AT_HAND = 5
"""How many of them a learner waits for in a notebook."""


@dataclass(frozen=True)
class OfChoice:
    """An oracle that is told the model before it is completed, and the number that chooses.

    So an exercise's `complete` need not leave behind what it has done, where an answer finds it.
    """

    work_out: Callable[[Trial, int], Reference]


def _told(
    oracle: OfChoice, begun: Callable[[int], Trial], choice: int, completed: Trial
) -> Reference:
    return oracle.work_out(begun(0), choice)


@dataclass(frozen=True)
class RandomModels:
    """The random models of an exercise, and what must come out of them.

    Attributes:
        vocabulary: what they are made of.
        oracle: what must come out, worked out from fresh objects of the case, and in another
            way than by the course's own solution.
        complete: gives a trial what the exercise needs besides a model: further arguments,
            callbacks; the number chooses.
        count: how many are tried.
        expect: what every case demands beyond the oracle.
        expecting: what a case demands besides, by its recipe.
    """

    vocabulary: Vocabulary
    oracle: Callable[[Trial], Reference] | OfChoice
    complete: Callable[[Trial, int], Trial] = as_it_is
    count: int = COUNT
    expect: dict[str, Any] = field(default_factory=dict)
    expecting: Callable[[Recipe], dict[str, Any]] | None = None
    _made: dict[tuple[int, int], tuple[Case, ...]] = field(default_factory=dict, compare=False)

    def cases(self, seed: int = 0, count: int | None = None) -> tuple[Case, ...]:
        """The cases of a seed; with fewer, the first of them."""
        count = count or self.count
        if (seed, count) not in self._made:
            recipes = drawn(self.vocabulary.most, max(count, self.count), seed)[:count]
            self._made.clear()  # whoever tries many seeds shall not keep all of their models
            self._made[seed, count] = tuple(
                self.case(recipe, f"random model {i}") for i, recipe in enumerate(recipes, start=1)
            )
        return self._made[seed, count]

    def case(self, recipe: Recipe, name: str) -> Case:
        """The case of a recipe."""
        words = self.vocabulary
        program = program_of(recipe, words)
        # FX writes `x += y` for `iadd(x, y)`; a trace of that code has no `iadd` any more.
        traced = words.traced and recipe.form % 2 and "fx.wrap" not in program.source
        make = Builder(
            program,
            words.names,
            words.dtypes[recipe.dtype % len(words.dtypes)],
            training=words.training and recipe.training,
            traced=bool(traced),
            complete=self.complete,
            choice=recipe.choice,
        )
        oracle = self.oracle
        if isinstance(oracle, OfChoice):
            oracle = partial(_told, oracle, make.begin, recipe.choice)
        expect = self.expect | (self.expecting(recipe) if self.expecting else {})
        return Case(name, RANDOM.key, make, expect=expect, oracle=oracle, recipe=recipe)

    def smallest(self, case: Case, fails: Callable[[Case], bool]) -> Case:
        """The smallest random case that fails, on the way from one that does."""
        if case.recipe is None:
            return case
        name = "the smallest random model that shows it"
        recipe = shrunk(case.recipe, lambda recipe: fails(self.case(recipe, name)))
        return self.case(recipe, name)
