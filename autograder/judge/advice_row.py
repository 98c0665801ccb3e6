"""One row of advice about an exception, and its place among all rows."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple


class AdviceSlot(Enum):
    """A place in the table that exercises share, where rows of one exercise are asked."""

    RAISE = auto()
    """Before the rows about a ``raise`` or an ``assert`` of the learner."""
    FIRST = auto()
    """After these, and before all other rows."""
    NAMES = auto()
    """After the rows about values of Python that have no such attribute."""
    KEYS = auto()
    """After the rows about ``args`` and ``kwargs``."""
    LAST = auto()
    """After most rows, and before those for any function that is called or name that is unknown."""


class AdviceRow(NamedTuple):
    """An advice, and the exceptions that it is for.

    Attributes:
        types: names of exceptions, or of their base classes.
        says: a pattern that is searched for in the message.
        advice: sentences; ``{1}``, ``{2}`` stand for the groups of `says`, ``{line}`` for the
            learner's line and ``{generated}`` for the graph's.
        line: a pattern that is searched for in the learner's line.
        where: ``"call"`` while the answer was called, ``"trace"`` while it was traced,
            ``"result"`` while its result was run, ``"run"`` while an interpreter's ``run`` was
            called, ``"rule"`` in a decomposition rule; ``""`` for all.
        exercises: for a shared row, names of exercises, or beginnings of chapters' names; all by
            default.
        generated: a pattern that is searched for in the line of generated code.
        slot: for a row of one exercise, its place in the shared table.
    """

    types: tuple[str, ...]
    says: str
    advice: str
    line: str = ""
    where: str = ""
    exercises: tuple[str, ...] = ()
    generated: str = ""
    slot: AdviceSlot = AdviceSlot.FIRST
