"""Makes a failing recipe smaller while it still fails.

A learner waits for the result. A general shrinker, such as that of Hypothesis, ignores the meaning
of a recipe and needs hundreds of tries, while this one needs dozens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from autograder.fuzz.recipe import Recipe, Step

MOST_TRIES = 150

_PLAIN = {
    "result": 0,
    "inputs": 0,
    "training": False,
    "form": 0,
    "shape": 0,
    "dtype": 0,
    "returns": 0,
    "choice": 0,
}


def shrunk(recipe: Recipe, fails: Callable[[Recipe], bool], most: int = MOST_TRIES) -> Recipe:
    """The smallest failing recipe found by leaving out and simplifying parts.

    Args:
        recipe: a failing recipe.
        fails: whether another recipe fails.
        most: the largest number of recipes tried.
    """
    tried = {recipe}
    while True:
        for smaller in _smaller(recipe):
            if smaller in tried:
                continue
            if len(tried) > most:
                return recipe
            tried.add(smaller)
            if fails(smaller):
                recipe = smaller
                break
        else:
            return recipe


def _smaller(recipe: Recipe) -> Iterator[Recipe]:
    """Yield recipes that are a little smaller, the most promising first."""
    if recipe.part:
        yield replace(recipe, part=())
    for steps in _shorter(recipe.steps):
        yield replace(recipe, steps=steps)
    for name, plain in _PLAIN.items():
        if getattr(recipe, name) != plain:
            values: dict[str, Any] = {name: plain}
            yield replace(recipe, **values)
    for part in _shorter(recipe.part):
        yield replace(recipe, part=part)
    for steps in _plainer(recipe.steps):
        yield replace(recipe, steps=steps)
    for part in _plainer(recipe.part):
        yield replace(recipe, part=part)
    for place in range(len(recipe.steps)):
        returns = _closed(recipe.returns, len(recipe.steps) - place - 1)
        yield replace(recipe, steps=_cut(recipe.steps, place), returns=returns)
    for place in range(len(recipe.part)):
        yield replace(recipe, part=_cut(recipe.part, place))


def _shorter(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    size = (len(steps) + 1) // 2
    while size:
        for start in range(0, len(steps), size):
            yield steps[:start] + steps[start + size :]
        size //= 2


def _plainer(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    for place, step in enumerate(steps):
        for plain in (
            Step(op=step.op),
            replace(step, picks=(0, 0, 0)),
            replace(step, number=0),
            replace(step, layer=0),
            *(replace(step, picks=picks) for picks in _with_a_zero(step.picks)),
            replace(step, op=0),
        ):
            if plain != step:
                yield (*steps[:place], plain, *steps[place + 1 :])


def _with_a_zero(picks: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    first, second, third = picks
    yield from ((0, second, third), (first, 0, third), (first, second, 0))


def _cut(steps: tuple[Step, ...], place: int) -> tuple[Step, ...]:
    """Leave out a step, and let the later ones read the same values as before.

    `_shorter` ignores which values they read, which is simpler and usually enough. But it cannot
    remove an unused line if a later line reads a value from before it.
    """
    after = []
    for away, step in enumerate(steps[place + 1 :]):
        a, b, c = (_closed(pick, away) for pick in step.picks)
        after.append(replace(step, picks=(a, b, c)))
    return (*steps[:place], *after)


def _closed(pick: int, removed: int) -> int:
    """The number of the same value after one value is removed; 0 is the latest value."""
    return pick - 1 if pick > removed else pick
