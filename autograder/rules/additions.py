"""Rules for additions, and readers of calls that several keys use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from autograder.core.codec import Encoded, Tagged
from autograder.core.graph_record import CallRecord
from autograder.core.verdict import Finding
from autograder.judge.rule import Stage, rule

if TYPE_CHECKING:
    from autograder.judge import Evidence

OPERATOR_ADD: Tagged = {"function": "operator.add"}
TORCH_ADD: Tagged = {"function": "torch.add"}
TORCH_RELU: Tagged = {"function": "torch.relu"}


def calls(row: CallRecord, *functions: Tagged) -> bool:
    """Whether a node is a call of one of these functions, given as plain data."""
    return row["op"] == "call_function" and row["target"] in functions


def keyword(row: CallRecord, name: str) -> Encoded:
    """A node's keyword argument, or ``None``."""
    return next((value for key, value in row["kwargs"]["dict"] if key == name), None)


def _is_addition(row: CallRecord) -> bool:
    return calls(row, OPERATOR_ADD, TORCH_ADD) or (
        row["op"] == "call_method" and row["target"] == "add"
    )


def _has_other_alpha(row: CallRecord) -> bool:
    alpha = keyword(row, "alpha")
    return alpha is not None and alpha != 1


def _adds_in_place(row: CallRecord) -> bool:
    return calls(row, {"function": "operator.iadd"}) or (
        row["op"] == "call_method" and row["target"] in ("add_", "__iadd__")
    )


def _spelling(row: CallRecord) -> str:
    if row["op"] == "call_method":
        return "the method `.add`"
    return "the operator `+`" if calls(row, OPERATOR_ADD) else "a call of `torch.add`"


_ALPHA_OF_ONE = (
    "It has an `alpha` that is 1: what does it add then, and does your condition let it through?"
)


@rule("additions replaced", Stage.STRUCTURE)
def additions_replaced(evidence: Evidence) -> Iterable[Finding]:
    """Every addition that the task names must be replaced, and no other one."""
    after = evidence.graph["nodes"]
    for row in after:
        if _is_addition(row) and not _has_other_alpha(row):
            yield evidence.finding(
                "missed-spelling",
                f"`{row['name']}` is still an addition: {_spelling(row)}.",
                _ALPHA_OF_ONE
                if any(key == "alpha" for key, _ in row["kwargs"].get("dict", ()))
                else "An addition is written as a function, as an operator, or as a method. Does "
                "your condition hold for this one?",
                nodes=(row["name"],),
            )
            return
    kept = Counter(str(row["target"]) for row in after if _stays(row))
    for row in evidence.traced_graph["nodes"]:
        if not _stays(row):
            continue
        kept[str(row["target"])] -= 1
        if kept[str(row["target"])] < 0:
            why = "adds in place" if _adds_in_place(row) else "has an `alpha` that is not 1"
            yield evidence.finding(
                "changed-too-much",
                f"The model's node `{row['name']}` {why}; in your result it is not as it was.",
                "Read again which additions are left as they are.",
                nodes=(row["name"],),
            )
            return


def _stays(row: CallRecord) -> bool:
    return _adds_in_place(row) or (_is_addition(row) and _has_other_alpha(row))
