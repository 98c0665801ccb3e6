"""The answer key of `relu_after_add`."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import torch
from torch import fx

from autograder.authoring.key import (
    OPERATOR_ADD,
    PASS,
    TORCH_ADD,
    TORCH_RELU,
    AnswerKey,
    CallRecord,
    Evidence,
    Finding,
    NodeRecord,
    Stage,
    Table,
    call_of,
    calls,
    exchanging,
    expressions,
    keyword,
    missing_and_extra,
    rule,
)


def _about_relu(readers: list[NodeRecord]) -> str:
    """Advice on a sum without a relu."""
    spelled = [row["name"] for row in readers if "relu" in str(row["target"]).lower()]
    if spelled:
        return f"`{spelled[0]}` reads it, another spelling. The function `torch.relu` is meant."
    return "Both `torch.add` and `+` count, even if no node reads the sum."


@rule("one relu for each sum", Stage.STRUCTURE)
def one_relu_for_each_sum(evidence: Evidence) -> Iterable[Finding]:
    """Each sum has one reader, a relu, which all of the sum's former readers read."""
    after = evidence.graph["nodes"]
    for i, row in enumerate(after):
        if not calls(row, TORCH_ADD, OPERATOR_ADD):
            continue
        readers = [after[place] for place in evidence.derived.users[i]]
        relus = [other for other in readers if calls(other, TORCH_RELU)]
        others = [other["name"] for other in readers if other not in relus]
        name = row["name"]
        if not relus:
            yield evidence.finding(
                "relu-missing",
                f"No call of `torch.relu` reads the sum `{name}`.",
                _about_relu(readers),
                nodes=(name,),
            )
        elif len(relus) > 1:
            names = " and ".join(f"`{relu['name']}`" for relu in relus[:2])
            yield evidence.finding(
                "several-relus",
                f"The sum `{name}` is read by {names}.",
                "One relu serves all readers of a sum; a relu of the model itself is a reader.",
                nodes=(name,),
            )
        elif others:
            yield evidence.finding(
                "reader-not-rewired",
                f"`{others[0]}` still reads the sum `{name}` itself.",
                "All readers are meant: the output, lists and slices, one that reads twice.",
                nodes=(name, others[0]),
            )
        else:
            continue
        return
    yield from _nothing_else(evidence)


def _nothing_else(evidence: Evidence) -> Iterable[Finding]:
    table: Table = {}

    def readers_see(row: CallRecord, own: int) -> int:
        summed = calls(row, TORCH_ADD, OPERATOR_ADD)
        return call_of(table, TORCH_RELU, own) if summed else own

    before = evidence.traced_graph
    want = expressions(before["nodes"], table, readers_see=readers_see)
    for row, own in zip(before["nodes"], list(want), strict=True):
        if calls(row, TORCH_ADD, OPERATOR_ADD):
            want.append(call_of(table, TORCH_RELU, own))
    got = expressions(_relus_by_position(evidence.graph["nodes"]), table)
    missing, extra = missing_and_extra(want, got)
    names = [evidence.graph["nodes"][i]["name"] for i in extra]
    if names:
        yield evidence.finding(
            "changed-too-much",
            f"`{names[0]}` in your result is not what the exercise asks for"
            f"{_reading(evidence, extra[0])}.",
            "Nothing else changes: not the method `.add`, not what a node reads besides sums.",
            nodes=names[:1],
        )
    elif missing:
        gone = [before["nodes"][i]["name"] for i in missing if i < len(before["nodes"])]
        what = f"node `{gone[0]}`" if gone else "relu of a sum"
        yield evidence.finding(
            "changed-too-much",
            f"The model's {what} is missing from your result.",
            "Nothing may be removed, not even what nobody reads.",
        )


def _reading(evidence: Evidence, place: int) -> str:
    """The end of a sentence: the node that an unwanted relu reads; ``""`` for any other node."""
    rows = evidence.graph["nodes"]
    read = [rows[i] for i in evidence.derived.inputs[place]]
    if not calls(rows[place], TORCH_RELU) or len(read) != 1:
        return ""
    what = "a call of the method `.add`" if read[0]["target"] == "add" else "no sum that is meant"
    return f": it reads `{read[0]['name']}`, which is {what}"


def _relus_by_position(nodes: list[NodeRecord]) -> list[NodeRecord]:
    """The nodes with `torch.relu(input=x)` written as `torch.relu(x)`."""
    rows = []
    for row in nodes:
        value = keyword(row, "input")
        if calls(row, TORCH_RELU) and value is not None and len(row["kwargs"]["dict"]) == 1:
            row = {**row, "args": {"tuple": [value]}, "kwargs": {"dict": []}}
        rows.append(row)
    return rows


class ReluAfterAdding(fx.Interpreter):
    """Runs a model with a relu after each sum."""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Call a function or operator, and apply the relu if it adds."""
        value = super().call_function(target, args, kwargs)
        is_sum = target in (torch.add, operator.add) and isinstance(value, torch.Tensor)
        return value.clamp(min=0) if is_sum else value


KEY = AnswerKey((*PASS, one_relu_for_each_sum), exchanging(ReluAfterAdding))
