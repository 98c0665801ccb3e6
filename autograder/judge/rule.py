"""The rules of an answer key, and the stages in which the judge applies them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from autograder.core.verdict import Finding
from autograder.judge.evidence import Evidence


class Stage(IntEnum):
    """When a rule is applied. The judge stops at the first stage in which a rule fails:
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
    """One property that a right result has.

    Attributes:
        name: stable key, unique within an answer key.
        stage: when the rule is applied.
        find: yields a finding for each way in which the result lacks the property.
        reason: why the rule exists, if no wrong answer of the tests needs it.
    """

    name: str
    stage: Stage
    find: Callable[[Evidence], Iterable[Finding]]
    reason: str = ""

    def __call__(self, evidence: Evidence) -> Iterable[Finding]:
        return (replace(finding, rule=self.name) for finding in self.find(evidence))

    def because(self, reason: str) -> Rule:
        """The same rule, with the reason why an answer key includes it."""
        return replace(self, reason=reason)


def rule(name: str, stage: Stage) -> Callable[[Callable[..., Iterable[Finding]]], Rule]:
    """Make a decorator that turns a function from evidence to findings into a rule."""
    return lambda find: Rule(name, stage, find)
