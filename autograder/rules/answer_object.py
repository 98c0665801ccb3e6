"""Rules for the answer itself: a class with the right base class, or a traceable function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from autograder.core.verdict import Finding
from autograder.judge.advice import advice_for
from autograder.judge.error_text import came_from, error_text
from autograder.judge.rule import Rule, Stage, rule

if TYPE_CHECKING:
    from autograder.judge.evidence import Evidence


def _made_from(evidence: Evidence) -> Iterable[Finding]:
    """The answer must be a subclass of the class that the exercise names."""
    said = evidence.outcome.value
    if isinstance(said, str):
        yield evidence.finding(
            "wrong-kind",
            f"{evidence.you} is {said}.",
            "The class is right, look at its methods: which of them is that, and what "
            "does the same method of the base class give?"
            if said.startswith("a class whose `trace`")
            else "Keep the line `class ...` of the cell as it was given.",
        )


# First of all rules: nothing was run if the answer is not such a class.
made_from_the_class = Rule(
    "made from the class", Stage.ANSWER, _made_from,
    reason="says what the answer is, where all that others see is that nothing was run",
)  # fmt: skip


@rule("traceable", Stage.KIND)
def traceable(evidence: Evidence) -> Iterable[Finding]:
    """`symbolic_trace` must accept the function."""
    value = evidence.outcome.value
    if isinstance(value, dict) and "trace_error" in value:
        error = value["trace_error"]
        yield evidence.finding(
            "not-traceable",
            f"`fx.symbolic_trace({evidence.exercise.name})` raised {error_text(error)}."
            f"{came_from(error)}",
            advice_for(evidence.exercise, error, "trace")
            or "Something on this line asks a Proxy for what only a tensor has: a value.",
        )
