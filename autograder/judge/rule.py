"""The rules of an answer key, and the order in which the judge asks them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from autograder.core.verdict import Finding
from autograder.judge.evidence import Evidence


class Stage(IntEnum):
    """The time at which a rule is asked. A case that fails one stage is not judged further:
    later findings would only repeat the first in other words."""

    ANSWER = 0
    KIND = 1
    CALLER = 2
    FORM = 3
    STRUCTURE = 4
    RUNS = 5
    RESULT = 6
    COPY = 7


@dataclass(frozen=True)
class Rule:
    """One thing a good result has.

    Attributes:
        name: stable key, unique within an answer key.
        stage: when it is looked at.
        find: yields a finding for each way in which it is missing.
        reason: why it is there, where no wrong answer needs it.
    """

    name: str
    stage: Stage
    find: Callable[[Evidence], Iterable[Finding]]
    reason: str = ""

    def __call__(self, evidence: Evidence) -> Iterable[Finding]:
        return (replace(finding, rule=self.name) for finding in self.find(evidence))

    def because(self, reason: str) -> Rule:
        """The same rule, with a reason for its place in an answer key."""
        return replace(self, reason=reason)


def rule(name: str, stage: Stage) -> Callable[[Callable[..., Iterable[Finding]]], Rule]:
    """Make a rule of a function from evidence to findings."""
    return lambda find: Rule(name, stage, find)
