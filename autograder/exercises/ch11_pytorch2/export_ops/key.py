"""The answer key of `export_ops`: the overloads of ATen operators, and their counts."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.authoring.key import (
    AnswerKey,
    Evidence,
    Finding,
    Stage,
    caller_untouched,
    returns,
    rule,
    show,
)


@rule("right operators", Stage.RESULT)
def right_operators(evidence: Evidence) -> Iterable[Finding]:
    """The keys must be exactly the program's ATen operators, and the values their counts."""
    got = {show(key): value for key, value in evidence.outcome.value["dict"]}
    want = {show(key): value for key, value in evidence.reference.value["dict"]}
    extra = [key for key in got if key not in want and got[key] != 0]
    missing = [key for key in want if key not in got]
    if extra:
        yield evidence.finding(
            "extra-key",
            f"Your counter has a key {extra[0]}, which is no ATen operator of this program.",
            "Keys are texts such as 'aten.linear.default'. Print the program: is this one there, "
            "and whose operator is it?",
        )
    elif missing:
        yield evidence.finding(
            "missing-operator",
            f"Your counter has no key {missing[0]}, which this program calls.",
            "Print the program, with all that belongs to it. Where is this operator called?",
        )
    for key, number in want.items():
        if key in got and (type(got[key]) is not int or got[key] != number):
            yield evidence.finding(
                "wrong-count",
                f"Under {key} you have {show(got[key])}; the program has {number} such "
                f"{'call' if number == 1 else 'calls'}.",
                "Print the program and count. Is a graph left out, or counted twice?",
            )
            return


KEY = AnswerKey(
    (
        returns("dict").because("names the kind that came back, before anything is counted"),
        caller_untouched,
        right_operators,
    ),
)
