"""The end of a sandboxed process, as its supervisor reports it and a judge reads it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ExitReason(StrEnum):
    """The reasons for which a process ends. Programs compare these; the words are for people."""

    EXITED = "ended"
    OUT_OF_TIME = "out of time"
    OUT_OF_MEMORY = "out of memory"
    OUT_OF_DISK = "out of disk space"
    TOO_MANY_PROCESSES = "too many processes"
    NO_BOX = "no box"
    UNRESPONSIVE = "astray"
    """It does not answer, or sends an answer of an unknown form."""


@dataclass(frozen=True)
class ProcessExit:
    """The end of one process.

    Attributes:
        end: the reason.
        detail: details in words, such as ``by signal 9``.
    """

    end: ExitReason
    detail: str = ""

    def __str__(self) -> str:
        if self.end is ExitReason.UNRESPONSIVE:
            return self.detail or "no answer"
        return f"{self.end} {self.detail}".strip()

    def line(self) -> str:
        """The exit as one line of text, without the line break."""
        return f"{self.end.name} {self.detail}"

    @classmethod
    def of_line(cls, line: str) -> ProcessExit:
        """The inverse of `line`; an unknown line means that a process is unresponsive."""
        name, _, detail = line.partition(" ")
        return (
            cls(ExitReason[name], detail)
            if name in ExitReason.__members__
            else cls(ExitReason.UNRESPONSIVE, line[:300])
        )
