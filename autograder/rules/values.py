"""What every function has whose result is data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from autograder.core.codec import kind_of
from autograder.core.verdict import Finding
from autograder.judge.compare import difference
from autograder.judge.rule import Rule, Stage, rule

if TYPE_CHECKING:
    from autograder.judge import Evidence


def returns(kind: str) -> Rule:
    """The result is of one kind of plain data: ``list``, ``dict``, ``bool``, ``tuple``, ``int``."""

    def find(evidence: Evidence) -> Iterable[Finding]:
        value = evidence.outcome.value
        got = next(iter(value)) if isinstance(value, dict) else type(value).__name__
        if got != kind:
            look = "Compare with the return type in the exercise."
            if value is None:
                look = "Does every path through your function end with `return`?"
            yield evidence.finding(
                "returned-none" if value is None else "wrong-kind",
                f"{evidence.you} returned {kind_of(value)}, not a `{kind}`.",
                look,
            )

    return Rule(f"returns a {kind}", Stage.KIND, find)


@rule("right value", Stage.RESULT)
def right_value(evidence: Evidence) -> Iterable[Finding]:
    """The value is the reference's."""
    found = difference(
        evidence.outcome.value,
        evidence.outcome.tensors,
        evidence.reference.value,
        evidence.reference.tensors,
        "your result",
    )
    if found:
        yield evidence.finding(
            "wrong-value",
            f"For this case {found.text}.",
            "Go through the model's graph by hand and compare, entry by entry.",
        )


@rule("nothing forbidden", Stage.KIND)
def nothing_forbidden(evidence: Evidence) -> Iterable[Finding]:
    """What the task forbids is not used."""
    for name in evidence.outcome.used:
        yield evidence.finding(
            "forbidden",
            f"{evidence.you} uses `{name}`, which this exercise forbids.",
            "The point is to do its work yourself.",
        )
