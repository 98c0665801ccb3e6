"""A recipe: small numbers that describe a model. Any numbers give a valid model.

A number that selects one of several things is taken modulo their count, and zero is the simplest
choice. So every part of a recipe can be made smaller or left out on its own; `shrinker` does this
to find the smallest failing recipe.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

OWN = 1 << 20
"""Seeds below it have models of their own. A larger seed contains the number of a class's pool, and
the share of this pool."""


@dataclass(frozen=True)
class Step:
    """One line of a ``forward``.

    Attributes:
        op: index of the operation.
        picks: indices of the values that it reads: 0 is the latest one, 1 the one before …
        number: index of the constant, if the operation has one.
        layer: source of its module: 0 and 1 a new one, 2 an existing one, 3 an existing one
            under a second name, 4 a new one inside an `nn.Sequential`, 5 a new one with a
            misleading name.
    """

    op: int = 0
    picks: tuple[int, int, int] = (0, 0, 0)
    number: int = 0
    layer: int = 0


@dataclass(frozen=True)
class Recipe:
    """A model, its inputs, and an exercise's further choice.

    Attributes:
        steps: the model's ``forward``.
        part: the ``forward`` of a module inside the model; without steps there is none.
        shape: index of the input shape.
        inputs: index of the kind of further parameters of ``forward``.
        result: index of the kind of result: the last value, a tuple, a dictionary …
        returns: index of the value that is returned in addition to the last one.
        dtype: index of the dtype.
        training: whether the model is in training mode.
        form: 0 for a module of a class of its own, 1 for its trace.
        choice: a number for the exercise: index of a node, a submodule …
    """

    steps: tuple[Step, ...] = ()
    part: tuple[Step, ...] = ()
    shape: int = 0
    inputs: int = 0
    result: int = 0
    returns: int = 0
    dtype: int = 0
    training: bool = False
    form: int = 0
    choice: int = 0

    def to_json(self) -> str:
        """The recipe as one line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """Parse the result of `to_json`."""
        data: dict[str, Any] = json.loads(text)
        for key in ("steps", "part"):
            data[key] = tuple(Step(**{**step, "picks": tuple(step["picks"])}) for step in data[key])
        return cls(**data)
