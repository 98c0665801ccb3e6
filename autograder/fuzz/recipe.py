"""What is drawn: a recipe of small numbers. Any numbers at all make a sound model.

A number that chooses among things is taken modulo how many there are, and zero is the plainest
choice. So every part of a recipe can be made smaller or left out on its own, which is what
`shrinker` does to find the smallest failing one.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

OWN = 1 << 20
"""A seed below it draws models of its own. Above that it says from which pool of a class the models
come, and which share of the pool."""


@dataclass(frozen=True)
class Step:
    """One line of a ``forward``.

    Attributes:
        op: which operation.
        picks: which values it reads: 0 is the latest one, 1 the one before …
        number: which number stands where the operation has one.
        layer: how its module is had: 0 and 1 a new one, 2 one that is there already, 3 the
            same one under a second name, 4 a new one inside an `nn.Sequential`, 5 a new one
            whose name misleads.
    """

    op: int = 0
    picks: tuple[int, int, int] = (0, 0, 0)
    number: int = 0
    layer: int = 0


@dataclass(frozen=True)
class Recipe:
    """A model, its inputs, and what an exercise wants chosen besides.

    Attributes:
        steps: the model's ``forward``.
        part: the ``forward`` of a module inside the model; without steps there is none.
        shape: which shape of input.
        inputs: which parameters ``forward`` has besides the first.
        result: what is returned: 0 the last value, else a tuple, a dictionary …
        returns: which value is returned besides the last.
        dtype: which dtype.
        training: whether the model is in training mode.
        form: 0 a module of a class of its own, 1 its trace.
        choice: for the exercise: which node, which submodule …
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
        """The recipe as one line of text, for a record."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """The inverse of `to_json`."""
        data: dict[str, Any] = json.loads(text)
        for key in ("steps", "part"):
            data[key] = tuple(Step(**{**step, "picks": tuple(step["picks"])}) for step in data[key])
        return cls(**data)
