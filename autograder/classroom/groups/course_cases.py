"""The interface to the cases of exercises, which the command line reads from the course."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class CaseCode:
    """The code of a hand-picked case.

    Attributes:
        name: the case's name.
        code: its model as source code.
        is_hidden: whether students do not know it.
    """

    name: str
    code: str
    is_hidden: bool


class CourseCases(Protocol):
    """The hand-picked cases of exercises.

    The command line has an implementation, because building cases needs the judge, which must not
    be imported next to the gradebook's own code.
    """

    def count(self, exercise: str) -> int:
        """The number of cases; 0 for an exercise that this version does not have."""

    def is_hidden(self, exercise: str, case: str) -> bool:
        """Whether students do not know a case; true for an unknown one."""

    def smallest(self, exercise: str, names: Collection[str]) -> CaseCode | None:
        """The code of the smallest of these cases; one that students know, if there is any."""
