"""Errors with which the builder rejects a chapter or an exercise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.builder.paths import shown


@dataclass(frozen=True, order=True)
class Problem:
    """One reason to reject a chapter or an exercise.

    The line counts from 1. The message and the fix are one sentence each.
    """

    line: int
    message: str
    advice: str


class BuildRefused(Exception):
    """A file breaks the rules, so nothing was built from it.

    Attributes:
        path: the file of a chapter or an exercise.
        problems: all problems, in the order of the file.
    """

    def __init__(self, path: Path, problems: Sequence[Problem]) -> None:
        self.path = path
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """One line for each problem, beginning with ``file:line``."""
        return [f"{shown(self.path)}:{p.line}: {p.message} {p.advice}" for p in self.problems]


class CourseRefused(Exception):
    """Some chapters or exercises break the rules, so nothing was written.

    Attributes:
        refusals: one for each file.
    """

    def __init__(self, refusals: Sequence[BuildRefused]) -> None:
        self.refusals = tuple(refusals)
        super().__init__("\n".join(str(refusal) for refusal in refusals))
