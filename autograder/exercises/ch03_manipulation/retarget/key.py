"""The answer key of `retarget`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import fx

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    NodeRecord,
    Reference,
    Stage,
    Table,
    Trial,
    calls,
    exchanging,
    expressions,
    missing_and_extra,
    rule,
    target_text,
)


@rule("calls replaced", Stage.STRUCTURE)
def calls_replaced(evidence: Evidence) -> Iterable[Finding]:
    """Calls of `old` are calls of `new` with the same arguments; other nodes are unchanged."""
    encode = Encoder(evidence.trial.functions).function
    old, new = (encode(function) for function in evidence.trial.args[1:3])
    before, after = evidence.traced_graph["nodes"], evidence.graph["nodes"]
    left = next((row for row in after if calls(row, old)), None)
    if left:
        yield evidence.finding(
            "missed-call",
            f"`{left['name']}` still calls `{target_text(old)}`.",
            _LEFT_UNREAD
            if not left["users"]
            else "Does your condition hold for this node? Its target is the function itself, not "
            "the name of it.",
            nodes=(left["name"],),
        )
        return
    others = [row for row in before if not calls(row, old)]
    changed = _changed_node(others, after)
    name = changed["name"] if changed else ""
    namesake = next((row for row in after if row["name"] == name), None)
    if changed and namesake and namesake["op"] == changed["op"] == "call_function":
        was, now = target_text(changed["target"]), target_text(namesake["target"])
        yield evidence.finding(
            "other-nodes-changed",
            f"`{changed['name']}` calls `{was}` in the model's trace, and `{now}` in your result.",
            f"`{was}` and `{target_text(old)}` have the same `__name__`, and are two functions."
            if was.rpartition(".")[2] == target_text(old).rpartition(".")[2]
            else "Which nodes does your condition let through?",
            nodes=(changed["name"],),
        )
    elif changed:
        yield evidence.finding(
            "other-nodes-changed",
            f"The model's trace has a node `{changed['name']}` that is not a call of "
            f"`{target_text(old)}`; your result has no such node of that name.",
            "Look at how nodes get their names, and at which nodes you touch.",
            nodes=(changed["name"],),
        )
    elif len(before) != len(after):
        yield evidence.finding(
            "other-nodes-changed",
            f"The model's trace has {len(before)} nodes, your result has {len(after)}.",
            "No node may be added or removed, not even one that nobody reads.",
        )
    else:
        yield from _same_arguments(evidence, old, new)


_LEFT_UNREAD = (
    "No node reads it any more, because you added a new one. Change its target, or erase "
    "it and give the new node its name."
)


def _changed_node(others: list[NodeRecord], after: list[NodeRecord]) -> NodeRecord | None:
    kept = {(row["name"], row["op"], str(row["target"])) for row in after}
    for row in others:
        if (row["name"], row["op"], str(row["target"])) not in kept:
            return row
    return None


def _same_arguments(evidence: Evidence, old: Encoded, new: Encoded) -> Iterable[Finding]:
    table: Table = {}
    want = expressions(
        evidence.traced_graph["nodes"],
        table,
        target=lambda r: new if calls(r, old) else r["target"],
    )
    got = expressions(evidence.graph["nodes"], table)
    _, extra = missing_and_extra(want, got)
    if extra:
        name = evidence.graph["nodes"][extra[0]]["name"]
        yield evidence.finding(
            "wrong-arguments",
            f"`{name}` does not have the arguments of the call that it stands for: something is "
            "missing, added or another.",
            "Arguments come by position and by keyword. Print `args` and `kwargs` of this node in "
            "the model's trace and in your result.",
            nodes=(name,),
        )


def calling_another(trial: Trial) -> Reference:
    """The model under an Interpreter that calls `new` where the model calls `old`."""
    _, old, new = trial.args

    class Calling(fx.Interpreter):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_function(new if target is old else target, args, kwargs)

    return exchanging(Calling)(trial)


KEY = AnswerKey((*PASS, calls_replaced), calling_another)
