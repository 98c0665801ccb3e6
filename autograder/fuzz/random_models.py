"""Makes cases from recipes: random models instead of hand-picked ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from autograder.core.exercise import RANDOM, Case, Expect, Trial
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import bounded_output
from autograder.fuzz.codegen import program_of
from autograder.fuzz.grammar import Vocabulary
from autograder.fuzz.model_builder import Builder, no_completion
from autograder.fuzz.recipe import OWN, Recipe
from autograder.fuzz.sampler import drawn
from autograder.fuzz.shrinker import shrunk

COUNT = 18
"""Number of random models on which an answer is graded."""

AT_HAND = 5
"""Number of random models that a check in the notebook tries while the learner waits."""


POOL = 128
"""Number of models in a pool."""


@dataclass(frozen=True)
class RandomModels:
    """The random models of an exercise. The answer key's oracle computes the expected results.

    Attributes:
        vocabulary: their parts.
        complete: adds the other objects that the exercise needs to a trial: further arguments,
            callbacks; its number selects among them. It runs in the process that runs answers,
            so it must be in a module of models.
        count: number of models tried.
        expect: further expectations of every case, or a function that returns them by recipe.
    """

    vocabulary: Vocabulary
    complete: Callable[[Trial, int], Trial] = no_completion
    count: int = COUNT
    expect: Expect | Callable[[Recipe], Expect] = Expect()
    _made: dict[tuple[int, int], tuple[Case, ...]] = field(default_factory=dict, compare=False)
    _pooled: dict[tuple[int, int], Case] = field(default_factory=dict, compare=False)

    def cases(self, seed: int = 0, count: int | None = None) -> tuple[Case, ...]:
        """The cases of a seed; with a smaller count, the first of them."""
        count = count or self.count
        pool, own = divmod(seed, OWN)
        if pool:
            return self._share(pool, own, count)
        if (seed, count) not in self._made:
            recipes = drawn(self.vocabulary.most, max(count, self.count), seed)[:count]
            self._made.clear()  # a run over many seeds must not keep all of their models
            made = (self.case(recipe, f"random model {i}") for i, recipe in enumerate(recipes, 1))
            self._made[seed, count] = tuple(filter(can_be_made, made))
        return self._made[seed, count]

    def pool(self, pool: int) -> Iterator[Case]:
        """The cases of a class's pool: recipes are drawn at once, each case is made when needed.

        Args:
            pool: its number.
        """
        drawn(self.vocabulary.most, POOL, pool)
        return (self._of_pool(pool, place) for place in range(POOL))

    def _share(self, pool: int, own: int, count: int) -> tuple[Case, ...]:
        """A share of a pool: consecutive models, since their choices differ most."""
        start = random.Random(own).randrange(POOL)
        places = ((start + i) % POOL for i in range(count))
        return tuple(filter(can_be_made, (self._of_pool(pool, place) for place in places)))

    def _of_pool(self, pool: int, place: int) -> Case:
        if (pool, place) not in self._pooled:
            if len(self._pooled) >= 2 * POOL:
                self._pooled.clear()  # those of other pools
            recipe = drawn(self.vocabulary.most, POOL, pool)[place]
            self._pooled[pool, place] = self.case(recipe, f"random model {place + 1}")
        return self._pooled[pool, place]

    def case(self, recipe: Recipe, name: str) -> Case:
        """Make the case of a recipe."""
        words = self.vocabulary
        program = program_of(recipe, words)
        # FX writes `x += y` for `iadd(x, y)`; a trace of that code contains no `iadd`.
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
        expect = self.expect if isinstance(self.expect, Expect) else self.expect(recipe)
        return Case(name, RANDOM.key, make, expect=expect, recipe=recipe)

    def smallest(self, case: Case, fails: Callable[[Case], bool]) -> Case:
        """Shrink a failing random case, and return the smallest one found that still fails."""
        if not isinstance(case.recipe, Recipe):
            return case
        name = "the smallest random model that shows it"

        def is_as_bad(recipe: Recipe) -> bool:
            smaller = self.case(recipe, name)
            return can_be_made(smaller) and fails(smaller)

        return self.case(shrunk(case.recipe, is_as_bad), name)


def can_be_made(case: Case) -> bool:
    """Whether the objects of a random case can be made.

    Code that runs the model to make them may find that one operation does not accept the result of
    another. That is not the answer's fault, so such a model is skipped.
    """
    key = "can be made"
    if key not in case.cache:
        case.cache[key] = True
        # A model alone is not run here.
        if not (isinstance(case.make, Builder) and case.make.complete is no_completion):
            try:
                with preserve_global_state(), bounded_output(0):
                    case.make(0)
            except Exception:
                case.cache[key] = False
    made: bool = case.cache[key]
    return made
