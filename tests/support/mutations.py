"""Outcomes with one field removed, emptied, or changed in type."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from autograder.core.outcome import Outcome

Path = tuple[str | int, ...]
FIELDS = ("value", "runs", "error")


@dataclass(frozen=True)
class Mutation:
    """One change to the plain data of an outcome.

    Attributes:
        path: the field.
        how: ``dropped``, ``emptied``, ``none`` or ``retyped``.
    """

    path: Path
    how: str

    @property
    def place(self) -> str:
        """The path as text, with the same text for all items of a list."""
        return re.sub(r"\.(\d+)", "[]", ".".join(map(str, self.path)))

    def of(self, outcome: Outcome) -> Outcome:
        """A copy of the outcome with this change."""
        other = copy.copy(outcome)
        name, *way = self.path
        setattr(other, str(name), self._in(getattr(outcome, str(name)), way))
        return other

    def _in(self, value: Any, way: list[str | int]) -> Any:
        """Copy a value and change the end of the path; parts outside the path are shared."""
        if not way:
            return _changed(value, self.how)
        step, *rest = way
        owner = copy.copy(value)
        if not rest and self.how == "dropped":
            del owner[step]
        else:
            owner[step] = self._in(owner[step], rest)
        return owner


def mutations(outcome: Outcome) -> Iterator[Mutation]:
    """All changes to the fields that an outcome really has."""
    for name in FIELDS:
        for path, value in _walk(getattr(outcome, name), (name,)):
            if value is None:
                continue
            if len(path) > 1:
                yield Mutation(path, "dropped")
            if value or value is False or type(value) in (int, float):
                yield Mutation(path, "none")
                yield Mutation(path, "retyped")
            if value and type(value) in (dict, list, str):
                yield Mutation(path, "emptied")


def some(outcome: Outcome, count: int, seed: int) -> list[Mutation]:
    """At most this many changes, in as many different places as possible."""
    random = Random(seed)
    by_place: dict[tuple[str, str], list[Mutation]] = {}
    for mutation in mutations(outcome):
        by_place.setdefault((mutation.place, mutation.how), []).append(mutation)
    one_each = [random.choice(group) for group in by_place.values()]
    return random.sample(one_each, min(count, len(one_each)))


def _walk(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    yield path, value
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from _walk(item, (*path, key))


def _changed(value: Any, how: str) -> Any:
    if how == "none":
        return None
    if how == "emptied":
        return type(value)()
    return 7 if isinstance(value, str) else "of another type"
