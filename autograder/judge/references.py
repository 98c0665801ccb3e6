"""Reference outputs: what the course's own solutions return, stored as plain data.

One file a chapter, made by ``fxcourse references`` and compared by a test. The checks read
these files; they never import a solution.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import torch

from autograder.core.codec import Plain
from autograder.core.outcome import Outcome, tensor_bytes, tensor_from_bytes

FOLDER = Path(__file__).parents[1] / "references"


class MissingReference(LookupError):
    """No reference is stored for a case."""


@dataclass
class Reference:
    """What the reference solution gave on one case.

    Attributes:
        value: the plain form of its result; ``None`` where that is a graph module.
        runs: for each input of the case, ``value``, ``args`` and ``log`` of running the result.
        tensors: the table that the data refers to.
    """

    value: Plain = None
    runs: list[Plain] = field(default_factory=list)
    tensors: list[torch.Tensor] = field(default_factory=list)

    @classmethod
    def of_outcome(cls, outcome: Outcome) -> Reference:
        """The part of a solution's outcome that a reference keeps."""
        value = outcome.value
        if isinstance(value, dict) and "graph_module" in value:
            value = None
        runs = [record.get("forward", record.get("eager")) for record in outcome.runs]
        used: list[torch.Tensor] = []
        plain = _renumber([value, runs], outcome.tensors, used)
        return cls(plain[0], plain[1], used)

    def to_json(self) -> Plain:
        """The reference as JSON, tensors in base64."""
        return {
            "value": self.value,
            "runs": self.runs,
            "tensors": [
                [
                    str(t.dtype).removeprefix("torch."),
                    list(t.shape),
                    base64.b64encode(tensor_bytes(t)).decode(),
                ]
                for t in self.tensors
            ],
        }

    @classmethod
    def from_json(cls, data: Plain) -> Reference:
        """The inverse of `to_json`."""
        tensors = [
            tensor_from_bytes(base64.b64decode(blob), dtype, shape)
            for dtype, shape, blob in data["tensors"]
        ]
        return cls(data["value"], data["runs"], tensors)


def _renumber(data: Plain, tensors: list[torch.Tensor], used: list[torch.Tensor]) -> Plain:
    """The data with its tensors moved to a table of their own."""
    if isinstance(data, list):
        return [_renumber(item, tensors, used) for item in data]
    if not isinstance(data, dict):
        return data
    if set(data) == {"tensor"}:
        used.append(tensors[data["tensor"]])
        return {"tensor": len(used) - 1}
    return {key: _renumber(value, tensors, used) for key, value in data.items()}


@lru_cache(maxsize=32)
def _chapter(chapter: str) -> Plain:
    path = FOLDER / f"{chapter}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


@lru_cache(maxsize=4096)
def reference(chapter: str, exercise: str, case: str) -> Reference:
    """The stored reference of a case.

    Raises:
        MissingReference: if there is none; the references are then out of date.
    """
    try:
        return Reference.from_json(_chapter(chapter)[exercise][case])
    except KeyError:
        raise MissingReference(
            f"No reference for {exercise!r}, case {case!r}. Run `fxcourse references`."
        ) from None


def forget() -> None:
    """Drop what was read, after the files have changed."""
    _chapter.cache_clear()
    reference.cache_clear()
