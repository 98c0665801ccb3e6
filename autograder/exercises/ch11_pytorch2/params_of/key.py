"""The answer key of `params_of`: five lists of names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    Stage,
    caller_untouched,
    kind_of,
    returns,
    rule,
    show,
)

KEYS = ("parameters", "buffers", "constants", "inputs", "mutated")


@rule("five lists", Stage.FORM)
def five_lists(evidence: Evidence) -> Iterable[Finding]:
    """The keys must be the five, each with a list of names."""
    got = {show(key): value for key, value in evidence.value["dict"]}
    missing = [key for key in KEYS if repr(key) not in got]
    extra = [key for key in got if key not in map(repr, KEYS)]
    if missing:
        yield evidence.finding(
            "missing-key",
            f"Your dictionary has no key '{missing[0]}'.",
            "All five keys are there for every program, even if a list is empty.",
        )
    if extra:
        advice = f"The keys are {', '.join(map(repr, KEYS))}."
        yield evidence.finding("extra-key", f"Your dictionary has a key {extra[0]}.", advice)
    for key in KEYS:
        value = got.get(repr(key), {"list": []})
        if not _is_list_of_names(value):
            yield evidence.finding(
                "wrong-kind",
                f"Under '{key}' you have {_what(value)}, not a list of names.",
                "Each value is a list, of the names of placeholders as text.",
            )
            return


def _is_list_of_names(value: Encoded) -> bool:
    listed = isinstance(value, dict) and "list" in value
    return listed and all(isinstance(name, str) for name in value["list"])


def _what(value: Encoded) -> str:
    if isinstance(value, dict) and "list" in value:
        odd = next(item for item in value["list"] if not isinstance(item, str))
        return f"a list with {kind_of(odd)} in it"
    return kind_of(value)


@rule("right placeholders", Stage.RESULT)
def right_placeholders(evidence: Evidence) -> Iterable[Finding]:
    """Each list must contain the right names, in graph order."""
    got: dict[str, list[Any]] = {str(key): value["list"] for key, value in evidence.value["dict"]}
    want: dict[str, list[Any]] = {
        str(key): value["list"] for key, value in evidence.reference.value["dict"]
    }
    known = {name for key in KEYS for name in want[key]}
    for key in KEYS:
        ours, theirs = got[key], want[key]
        if ours == theirs:
            continue
        lacks = [name for name in theirs if name not in ours]
        extra = [name for name in ours if name not in theirs]
        if extra and extra[0] not in known:
            text = f"Under '{key}' you have {extra[0]!r}, which is not a placeholder of the program"
            code, advice = "no-placeholder", "The names are those of nodes; a path is a target."
        elif extra:
            text = f"Under '{key}' you have {extra[0]!r}, which does not belong there"
            code, advice = (
                "wrong-list",
                "What does the program's signature say of this placeholder?",
            )
        elif lacks:
            text = f"Under '{key}', {lacks[0]!r} is missing"
            code, advice = "missing-name", "What does the program's signature say of this one?"
        else:
            text = f"Under '{key}' you have {show({'list': ours})}, not {show({'list': theirs})}"
            code, advice = "wrong-order", "Each name is there once, in the order of the graph."
        yield evidence.finding(code, f"{text}.", advice, (*extra, *lacks)[:1])
        return


KEY = AnswerKey(
    (
        returns("dict").because("names the kind that came back, before any list is looked at"),
        caller_untouched,
        five_lists.because("names what is not a list of names, before lists are compared"),
        right_placeholders,
    ),
)
