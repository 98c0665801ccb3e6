"""The answer key of `WitnessEqualCalls`: equal calls, and a pass that compares by `==`."""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder import suspects
from autograder.authoring.key import Fight, duel_key
from autograder.exercises.ch09b_duels.right_passes import all_pure, as_it_is, exchange


def _exactly(value: Any) -> Any:
    """A key that distinguishes numbers by type, and zeros by sign."""
    return value if isinstance(value, fx.Node) else (type(value).__name__, repr(value))


def where_all_is_pure(gm: fx.GraphModule) -> fx.GraphModule:
    """Merge calls with identical arguments, if no call works in place."""
    if not all_pure(gm):
        return gm
    known: dict[Any, fx.Node] = {}
    for node in list(gm.graph.nodes):
        if node.op == "call_function":
            words = tuple((word, _exactly(value)) for word, value in node.kwargs.items())
            key = node.target, tuple(map(_exactly, node.args)), words
            if known.setdefault(key, node) is not node:
                exchange(node, known[key])
    return gm


KEY = duel_key(
    Fight(
        suspect=suspects.equal_calls,
        name="equal_calls",
        task="join equal calls where that changes nothing",
        right=(as_it_is, where_all_is_pure),
        keeps_meaning=True,
        limit=3,
        record=2,
        try_this="Has the suspect joined two calls of your trace? Print its graph before and "
        "after. If it has, what makes the two values differ?",
    ),
    nothing_outside="to keep every call is right, too",
)
