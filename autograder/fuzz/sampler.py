"""Hypothesis draws recipes."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from autograder.fuzz.plain_provider import BACKEND
from autograder.fuzz.recipe import Recipe, Step

_small = st.integers(0, 7)
_steps = st.builds(
    Step,
    op=st.integers(0, 63),
    picks=st.tuples(_small, _small, _small),
    number=st.integers(0, 5),
    layer=st.integers(0, 5),
)


def recipes(most: int) -> st.SearchStrategy[Recipe]:
    """Recipes of at most that many steps."""
    return st.builds(
        Recipe,
        steps=st.lists(_steps, min_size=1, max_size=most).map(tuple),
        part=st.lists(_steps, max_size=3).map(tuple),
        shape=st.integers(0, 7),
        inputs=st.integers(0, 7),
        result=st.integers(0, 7),
        returns=_small,
        dtype=st.integers(0, 3),
        training=st.booleans(),
        form=st.integers(0, 3),
        choice=st.integers(0, 63),
    )


@lru_cache(maxsize=256)
def drawn(most: int, count: int, number: int) -> tuple[Recipe, ...]:
    """Recipes for a seed: the same on every machine.

    Args:
        most: the most steps of one.
        count: how many.
        number: the seed.
    """
    found: list[Recipe] = []

    # Without a database: nothing is written to the learner's folder, nothing read from it.
    @seed(number)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        backend=BACKEND,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(recipes(most))
    def note(recipe: Recipe) -> None:
        found.append(recipe)

    note()
    return tuple(_turned(recipe, number + place) for place, recipe in enumerate(found))


def _turned(recipe: Recipe, by: int) -> Recipe:
    """The recipe with every choice moved on, for each recipe by another amount.

    Hypothesis likes to draw a value once more that it has drawn before, in one example and from
    one to the next. A few dozen recipes have to show as much as they can.
    """

    def moved(steps: tuple[Step, ...], start: int) -> tuple[Step, ...]:
        return tuple(
            replace(
                step,
                op=(step.op + 23 * (by + start) + 11 * place) % 64,
                number=(step.number + by + place) % 6,
                layer=(step.layer + by + 2 * place) % 6,
            )
            for place, step in enumerate(steps)
        )

    return replace(
        recipe,
        steps=moved(recipe.steps, 0),
        part=moved(recipe.part, 5),
        shape=(recipe.shape + by) % 8,
        inputs=(recipe.inputs + 3 * by) % 8,
        result=(recipe.result + 5 * by) % 8,
        form=(recipe.form + by) % 4,
        training=recipe.training ^ bool(by % 2),
        dtype=(recipe.dtype + by // 2) % 4,
        choice=(recipe.choice + 19 * by) % 64,
    )
