"""The answer key of `share_scales`: the given graph, with one scale for each group.

The groups are the connected parts of a graph of `quantize` calls: two calls are neighbors if an
operation makes them share.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import fx
from torch.nn import functional as F

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    NodeRecord,
    Reference,
    Stage,
    Trial,
    rule,
    runs_of,
    show,
)
from autograder.exercises.ch14_quantization.keys import (
    DEQUANTIZE,
    QUANTIZE,
    by_name,
    given,
    is_call_of,
    meta_kept,
    module_of_its_own,
    same_number,
)
from autograder.given import dequantize, quantize

METHODS = ("reshape", "flatten", "transpose", "permute")


def _moved(node: fx.Node) -> list[Any]:
    """The values that an operation moves; empty for all other nodes."""
    arguments: list[Any] = [*node.args, *node.kwargs.values()]
    if node.op == "call_function" and node.target is torch.cat:
        given: Any = node.kwargs.get("tensors", arguments[0])
        return list(given)
    if node.op == "call_function" and node.target is F.max_pool2d:
        return [node.kwargs.get("input", arguments[0])]
    return arguments[:1] if node.op == "call_method" and node.target in METHODS else []


def _neighbors(gm: fx.GraphModule) -> dict[fx.Node, set[fx.Node]]:
    """The neighbors of each `quantize` call: an operation makes them share its scale."""
    found: dict[fx.Node, set[fx.Node]] = {n: set() for n in gm.graph.nodes if n.target is quantize}
    for node in gm.graph.nodes:
        moved = _moved(node)
        results = [user for user in node.users if user.target is quantize]
        if moved and results and all(value.target is dequantize for value in moved):
            members = {*(value.args[0] for value in moved), *results}
            for member in members & found.keys():
                found[member] |= members & found.keys()
    return found


def expected(gm: fx.GraphModule) -> dict[str, tuple[float, str]]:
    """The scale of each `quantize` and `dequantize` call by name, and the call it comes from."""
    next_to = _neighbors(gm)
    found: dict[str, tuple[float, str]] = {}
    seen: set[fx.Node] = set()
    for start in next_to:
        if start in seen:
            continue
        part, todo = {start}, [start]
        while todo:
            new = next_to[todo.pop()] - part
            part |= new
            todo += new
        seen |= part
        in_order = [member for member in next_to if member in part]
        scales: dict[fx.Node, Any] = {member: member.args[1] for member in in_order}
        owner = max(in_order, key=scales.__getitem__)
        for member in in_order:
            readers = [user for user in member.users if user.target is dequantize]
            calls = (call.name for call in (member, *readers))
            found |= dict.fromkeys(calls, (scales[owner], owner.name))
    return found


def with_shared_scales(trial: Trial) -> Reference:
    """Run the given graph on an Interpreter with the expected scales."""
    (gm,) = trial.args
    scales = expected(gm)

    class Rescaled(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            if n.name not in scales:
                return super().run_node(n)
            args: Any = self.map_nodes_to_values(n.args, n)
            target: Any = n.target
            return target(args[0], scales[n.name][0])

    return runs_of(lambda *args: Rescaled(gm).run(*args), trial)


@rule("only scales change", Stage.STRUCTURE)
def only_scales_change(evidence: Evidence) -> Iterable[Finding]:
    """All nodes must be unchanged and in order, except for the scales of pairs."""
    before, after = by_name(evidence.traced_graph), by_name(evidence.graph)
    if list(before) != list(after):
        name = next((n for n in [*before, *after] if n not in before or n not in after), None)
        yield evidence.finding(
            "other-nodes",
            "The nodes of your result are not in the order that they had."
            if name is None
            else f"The given graph has a node `{name}`; your result has none of that name."
            if name in before
            else f"Your result has a node `{name}`; the given graph has none of that name.",
            "No node comes, goes, moves or gets another name: only scales change. Which way of "
            "copying a graph keeps names?",
            nodes=() if name is None else (name,),
        )
        return
    for name, row in before.items():
        if _without_scale(row) != _without_scale(after[name]):
            shown = name if row["op"] == "output" else f"`{name}`"
            yield evidence.finding(
                "other-arguments",
                f"{shown[0].upper()}{shown[1:]} does not call the same, or has other arguments.",
                "Only the scales of `quantize` and `dequantize` calls change.",
                nodes=(name,),
            )
            return


def _without_scale(row: NodeRecord) -> Encoded:
    """A node's target and arguments; for a pair's call, only its input."""
    called = row["op"], row["target"]
    pair = is_call_of(row, QUANTIZE) or is_call_of(row, DEQUANTIZE)
    read = given(row) if pair else None
    return (*called, row["args"], row["kwargs"]) if read is None else (*called, read[0])


@rule("scales as they must be", Stage.STRUCTURE)
def scales_as_they_must_be(evidence: Evidence) -> Iterable[Finding]:
    """Each group must have its largest scale; all other scales must stay."""
    before, after = by_name(evidence.traced_graph), by_name(evidence.graph)
    for name, (scale, owner) in expected(evidence.trial.args[0]).items():
        old, read = given(before[name]), given(after[name]) if name in after else None
        if read is None or old is None or same_number(read[1], scale):
            continue
        kept = same_number(scale, old[1])
        words = f"keep {show(scale)}" if kept else f"have {show(scale)}, that of `{owner}`"
        yield evidence.finding(
            "changed-alone" if kept else "not-shared",
            f"`{name}` has the scale {show(read[1])}; it should {words}.",
            "This scale should not change. Which operation is around this pair, are all its "
            "inputs dequantized, and does somebody quantize its result?"
            if kept
            else "It has another scale than before, and not the largest. Which of the scales that "
            "become one does your function use, and does it find all of them?"
            if not same_number(read[1], old[1])
            else "Which operations are on the way from one to the other? What hangs together, "
            "through several operations or common inputs, has one scale in each `quantize` and in "
            "all `dequantize` calls that read it.",
            nodes=(name,),
        )
        return


KEY = AnswerKey(
    (
        *PASS,
        module_of_its_own.because("names what is shared, before anything in it is compared"),
        only_scales_change,
        scales_as_they_must_be.because("names the call, before a result differs"),
        meta_kept,
    ),
    with_shared_scales,
)
