"""How a process in a box came to its end, as its supervisor says and a judge reads."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ExitReason(StrEnum):
    """The ways in which it ends. Programs compare these; the words are for people."""

    EXITED = "ended"
    OUT_OF_TIME = "out of time"
    OUT_OF_MEMORY = "out of memory"
    TOO_MANY_PROCESSES = "too many processes"
    NO_BOX = "no box"
    UNRESPONSIVE = "astray"
    """It does not answer, or answers something else."""


@dataclass(frozen=True)
class ProcessExit:
    """One process's end.

    Attributes:
        end: in which way.
        detail: what else is known, in words, such as ``by signal 9``.
    """

    end: ExitReason
    detail: str = ""

    def __str__(self) -> str:
        if self.end is ExitReason.UNRESPONSIVE:
            return self.detail or "no answer"
        return f"{self.end} {self.detail}".strip()

    def line(self) -> str:
        """The ending as a line of text, without its end."""
        return f"{self.end.name} {self.detail}"

    @classmethod
    def of_line(cls, line: str) -> ProcessExit:
        """The inverse of `line`; whatever else is said means that a process has gone astray."""
        name, _, detail = line.partition(" ")
        return (
            cls(ExitReason[name], detail)
            if name in ExitReason.__members__
            else cls(ExitReason.UNRESPONSIVE, line[:300])
        )
