"""How a process in a box came to its end, as its supervisor says and a judge reads."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class End(StrEnum):
    """The ways in which it ends. Programs compare these; the words are for people."""

    EXITED = "ended"
    OUT_OF_TIME = "out of time"
    OUT_OF_MEMORY = "out of memory"
    TOO_MANY_PROCESSES = "too many processes"
    NO_BOX = "no box"
    ASTRAY = "astray"
    """It does not answer, or answers something else."""


@dataclass(frozen=True)
class Ending:
    """One process's end.

    Attributes:
        end: in which way.
        detail: what else is known, in words, such as ``by signal 9``.
    """

    end: End
    detail: str = ""

    def __str__(self) -> str:
        if self.end is End.ASTRAY:
            return self.detail or "no answer"
        return f"{self.end} {self.detail}".strip()

    def line(self) -> str:
        """The ending as a line of text, without its end."""
        return f"{self.end.name} {self.detail}"

    @classmethod
    def of_line(cls, line: str) -> Ending:
        """The inverse of `line`; whatever else is said means that a process has gone astray."""
        name, _, detail = line.partition(" ")
        return cls(End[name], detail) if name in End.__members__ else cls(End.ASTRAY, line[:300])
