"""Draws recipes: a seed gives the same ones in every process, on every machine."""

from __future__ import annotations

import random
from functools import lru_cache

from autograder.fuzz.recipe import Recipe, Step


class _Deck:
    """Deals the numbers below a size in random order, and starts again after the last one.

    Each number is dealt once before any number is dealt twice, so that a few dozen recipes cover as
    many choices as possible.
    """

    def __init__(self, size: int, generator: random.Random) -> None:
        self._size, self._generator = size, generator
        self._left: list[int] = []

    def deal(self) -> int:
        """Deal the next number."""
        if not self._left:
            # In `random`, only this method gives the same numbers in every version of Python.
            self._left = sorted(range(self._size), key=lambda _: self._generator.random())
        return self._left.pop()


class _Sampler:
    """Draws one recipe after the other.

    Args:
        most: the largest number of steps.
        number: the seed.
    """

    def __init__(self, most: int, number: int) -> None:
        self._generator = random.Random(number)
        deck = self._deck
        self._length, self._part = deck(most), deck(4)
        self._op, self._number, self._layer = deck(64), deck(6), deck(6)
        self._shape, self._inputs, self._result = deck(8), deck(8), deck(8)
        self._dtype, self._training, self._form, self._choice = deck(4), deck(2), deck(4), deck(64)

    def _deck(self, size: int) -> _Deck:
        return _Deck(size, self._generator)

    def recipe(self) -> Recipe:
        """Draw the next recipe."""
        return Recipe(
            steps=self._steps(1 + self._length.deal()),
            part=self._steps(self._part.deal()),
            shape=self._shape.deal(),
            inputs=self._inputs.deal(),
            result=self._result.deal(),
            returns=self._any(8),
            dtype=self._dtype.deal(),
            training=bool(self._training.deal()),
            form=self._form.deal(),
            choice=self._choice.deal(),
        )

    def _steps(self, count: int) -> tuple[Step, ...]:
        return tuple(self._step() for _ in range(count))

    def _step(self) -> Step:
        return Step(
            op=self._op.deal(),
            picks=(self._any(8), self._any(8), self._any(8)),
            number=self._number.deal(),
            layer=self._layer.deal(),
        )

    def _any(self, size: int) -> int:
        return int(self._generator.random() * size)


@lru_cache(maxsize=256)
def drawn(most: int, count: int, number: int) -> tuple[Recipe, ...]:
    """Draw the recipes of a seed. A smaller count gives the first of them.

    Args:
        most: the largest number of steps in a recipe.
        count: number of recipes.
        number: the seed.
    """
    sampler = _Sampler(most, number)
    return tuple(sampler.recipe() for _ in range(count))
