"""What `replace_until_done` is to return, beyond what a pass returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from autograder.core.codec import Plain, kind_of
from autograder.core.verdict import Finding
from autograder.judge.rule import Stage, rule

if TYPE_CHECKING:
    from autograder.judge import Evidence


@rule("returns a module and a count", Stage.KIND)
def returns_module_and_count(evidence: Evidence) -> Iterable[Finding]:
    """The result is a tuple of a `GraphModule` and an `int`."""
    value = evidence.outcome.value
    if isinstance(value, dict) and "graph_module" in value and type(value.get("count")) is int:
        return
    if value is None:
        yield evidence.finding(
            "returned-none",
            f"{evidence.you} returned `None`.",
            "Does every path through your function end with `return`?",
        )
        return
    yield evidence.finding(
        "wrong-kind",
        f"{evidence.you} returned {_in_words(value)}, not a tuple of a `GraphModule` and an `int`.",
        "Return two values: first the module, then the number of replacements.",
    )


def _in_words(value: Plain) -> str:
    if isinstance(value, dict) and "count" in value:
        return f"a tuple whose second item is {kind_of(value['count'])}"
    if isinstance(value, dict) and "tuple" in value:
        kinds = " and ".join(_in_words(item) for item in value["tuple"])
        return f"a tuple of {kinds or 'nothing'}"
    if isinstance(value, dict) and "graph_module" in value:
        return "a `GraphModule`"
    return kind_of(value)


@rule("nothing matches", Stage.STRUCTURE)
def nothing_matches(evidence: Evidence) -> Iterable[Finding]:
    """In the module that came back, the pattern has no match."""
    if evidence.rebuilt is None:
        return
    left = evidence.done("matches")
    if left:
        places = "one place" if left == 1 else f"{left} places"
        yield evidence.finding(
            "still-matches",
            f"In the module that {evidence.you} returned, the pattern still matches {places}.",
            "A replacement can make a new match. Look at when your loop ends.",
        )


@rule("right count", Stage.RESULT)
def right_count(evidence: Evidence) -> Iterable[Finding]:
    """The number of replacements of all rounds together."""
    got, want = evidence.outcome.value["count"], evidence.case.expect.get("count")
    if want is None:  # a model drawn at random
        want = evidence.reference.value
    if got != want:
        yield evidence.finding(
            "wrong-count",
            f"{evidence.you} counts {got} replacements; `replace_pattern` made {want} here.",
            "`replace_pattern` returns one match for each replacement that it made in a round.",
        )
