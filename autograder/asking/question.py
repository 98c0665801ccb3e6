"""A question about one run of an answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any

LETTERS = "abcd"


@dataclass(frozen=True)
class Choice:
    """One option.

    Attributes:
        text: the option; code is in backticks.
        why: the reason why it is right or wrong.
    """

    text: str
    why: str


@dataclass(frozen=True)
class Question:
    """A question with one right option.

    Attributes:
        kind: a module of `asking.kinds`.
        text: the question; code is in backticks.
        model: the code of the model, and a sentence about it; ``""`` if there is none.
        graph: the rows of the model's graph, as text.
        choices: the options, in the order of their letters.
        right: the index of the right option.
        recipe: what the kind needs to compute the right option again.
    """

    kind: str
    text: str
    model: str
    graph: str
    choices: tuple[Choice, ...]
    right: int
    recipe: dict[str, Any] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """An id of the question's content."""
        options = [choice.text for choice in self.choices]
        data = json.dumps([self.kind, self.text, self.model, options])
        return hashlib.sha256(data.encode()).hexdigest()[:10]

    def to_json(self) -> dict[str, Any]:
        """The question as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Question:
        """The inverse of `to_json`."""
        choices = tuple(Choice(**choice) for choice in data["choices"])
        return cls(**{**data, "choices": choices})


def arranged(
    right: Choice, wrong: Sequence[Choice], random: Random, *, ascending: bool = False
) -> tuple[tuple[Choice, ...], int]:
    """The options in the order in which they are shown, and the index of the right one.

    Args:
        right: the right option.
        wrong: the wrong options, the best first; no more than four options are used.
        random: shuffles them.
        ascending: sort the options as numbers instead.
    """
    options = [right, *wrong[: len(LETTERS) - 1]]
    if ascending:
        options.sort(key=lambda choice: int(choice.text))
    else:
        options.sort(key=lambda _: random.random())
    return tuple(options), options.index(right)
