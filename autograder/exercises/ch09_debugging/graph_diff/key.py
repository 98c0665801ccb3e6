"""The answer key of `graph_diff`: three lists of names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import fx

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    Stage,
    answer_of,
    kind_of,
    returns,
    rule,
    show,
)

KINDS = ("added", "removed", "changed")


def rows_of(given: fx.Graph | fx.GraphModule) -> dict[str, Encoded]:
    """A plain record of each node, with links by name."""
    graph = given.graph if isinstance(given, fx.GraphModule) else given
    encoder = Encoder()
    return {
        node.name: [
            node.op,
            node.target if isinstance(node.target, str) else {"at": id(node.target)},
            encoder.encode(tuple(node.args)),
            dict((key, encoder.encode(value)) for key, value in node.kwargs.items()),
        ]
        for node in graph.nodes
    }


def differences(before: Any, after: Any) -> dict[str, list[str]]:
    """Compute the right answer of `graph_diff`."""
    old, new = rows_of(before), rows_of(after)
    both = [name for name in new if name in old]
    return {
        "added": [name for name in new if name not in old],
        "removed": [name for name in old if name not in new],
        "changed": [name for name in both if old[name] != new[name]],
    }


def lists_in(value: Encoded) -> dict[str, Encoded]:
    """The entries of a result, by key."""
    return {key: item for key, item in value["dict"] if isinstance(key, str)}


@rule("three lists of names", Stage.KIND)
def three_lists(evidence: Evidence) -> Iterable[Finding]:
    """Each of the three keys must be there, with a list of names."""
    value = evidence.outcome.value
    if not (isinstance(value, dict) and "dict" in value):
        return  # another rule reports it
    found = lists_in(value)
    odd = [key for key in found if key not in KINDS]
    for key in KINDS:
        if key not in found:
            yield evidence.finding(
                "missing-key",
                f"Your dictionary has no key {key!r}" + (f", but {odd[0]!r}." if odd else "."),
                "The three keys are there even if nothing differs.",
            )
            return
        rows = found[key]
        if not (isinstance(rows, dict) and "list" in rows):
            yield evidence.finding(
                "wrong-kind",
                f"Under {key!r} there is {kind_of(rows)}, not a list.",
                "Return a list: a set has no order.",
            )
            return
        for item in rows["list"]:
            if not isinstance(item, str):
                yield evidence.finding(
                    "wrong-kind",
                    f"In the list {key!r} there is {kind_of(item)}, not a name.",
                    "`node.name` is the name of a node.",
                )
                return
    if odd or len(value["dict"]) != len(KINDS):
        yield evidence.finding(
            "extra-key",
            f"Your dictionary has a further key: {odd[0]!r}." if odd else
            "Your dictionary has further keys.",
            "Return three keys.",
        )  # fmt: skip


@rule("neither is changed", Stage.CALLER)
def neither_is_changed(evidence: Evidence) -> Iterable[Finding]:
    """The graphs must not change."""
    if evidence.outcome.changed:
        yield evidence.finding(
            "caller-changed",
            f"After {evidence.you}, a graph it was given is another one: "
            f"{evidence.outcome.changed[0]}.",
            "Nothing has to be written anywhere to compare two graphs.",
        )


_WHY = {
    "added": "Only the second graph has it.",
    "removed": "Only the first graph has it.",
    "changed": "Both have it: compare its op, target, args and kwargs in the two, by hand.",
}


@rule("the right names", Stage.RESULT)
def the_right_names(evidence: Evidence) -> Iterable[Finding]:
    """Each list must contain the right names, in order."""
    got, want = lists_in(evidence.outcome.value), lists_in(evidence.reference.value)
    for key in KINDS:
        ours: list[Any] = got[key]["list"]
        theirs: list[Any] = want[key]["list"]
        lacks = [name for name in theirs if name not in ours]
        extra = [name for name in ours if name not in theirs]
        if lacks:
            yield evidence.finding(
                f"missing-{key}",
                f"`{lacks[0]}` is missing in your list {key!r}, which is {show(got[key])}.",
                _WHY[key],
                lacks[:1],
            )
        elif extra:
            yield evidence.finding(
                f"not-{key}",
                f"`{extra[0]}` does not belong in your list {key!r}: "
                f"{_not(evidence, key, extra[0])}.",
                "Print what your function compares for this node, in both graphs.",
                extra[:1],
            )
        elif len(ours) != len(theirs):
            yield evidence.finding(
                "wrong-order", f"A name is twice in your list {key!r}: {show(got[key])}.",
                "Each node is listed once.",
            )  # fmt: skip
        elif ours != theirs:
            which = "first" if key == "removed" else "second"
            yield evidence.finding(
                "wrong-order",
                f"Your list {key!r} has the right names in another order: {show(got[key])}.",
                f"This list is in the order of the {which} graph.",
            )


def _not(evidence: Evidence, key: str, name: str) -> str:
    """Explain why a name does not belong in a list."""
    before, after = (name in rows_of(graph) for graph in evidence.trial.args)
    if before and after:
        same = "its op, target, args and kwargs are the same in both"
        return same if key == "changed" else "both graphs have a node of that name"
    if before or after:
        return f"only the {'first' if before else 'second'} graph has a node of that name"
    return "neither graph has a node of that name"


KEY = AnswerKey(
    (
        returns("dict").because("names the kind that came back, before its lists are looked at"),
        three_lists,
        neither_is_changed,
        the_right_names,
    ),
    answer_of(differences),
)
