"""Replaces calls in a model's trace by the nodes that decomposition rules recorded.

A student's process runs each rule by itself and describes the recorded nodes. The code here is a
complete answer to `decompose`, which that process must not contain. Both input and result are
descriptions; the result is admitted and run like any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, cast

import torch
from torch import fx

from autograder.core.codec import Encoded, Encoder, Tagged
from autograder.core.exercise import Trial
from autograder.core.graph_program import admitted
from autograder.core.graph_record import CallRecord, GraphRecord, NodeRecord, describe
from autograder.core.outcome import Outcome, ResultRecord, RunRecord
from autograder.judge.derived_graph import DerivedGraph


def ruled_calls(nodes: Iterable[CallRecord], keys: Tagged) -> list[int]:
    """The positions of the nodes that call a function with a rule.

    Args:
        nodes: the described nodes of a model's trace.
        keys: the functions that have rules, as claimed.
    """
    return [
        i
        for i, row in enumerate(nodes)
        if row["op"] == "call_function" and row["target"] in keys["list"]
    ]


def with_rules_applied(
    claimed: Outcome, traced: Callable[[], fx.GraphModule], trial: Trial
) -> Outcome:
    """Turn the outcome of an answer that returned rules into one that decomposed the model.

    If the claim is inconsistent, only the functions that have rules remain.

    Args:
        claimed: the outcome with the rules.
        traced: traces the case's model.
        trial: new objects of the case.
    """
    value = claimed.value
    if not (isinstance(value, dict) and "rules" in value):
        return claimed
    encoder = Encoder(trial.functions)
    try:
        trace = describe(traced(), encoder)
        tensors = [*encoder.tensors, *claimed.tensors]
        nodes = _Splicing(trace, cast(ResultRecord, value), len(encoder.tensors)).written()
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        return replace(claimed, value={"keys": value.get("keys")})
    described: GraphRecord = {**trace, "nodes": nodes}
    graph = _graph_of(described, trial, tensors)
    code = DerivedGraph(described, lambda: graph).code
    described["code"] = described["fresh_code"] = code
    told: ResultRecord = {"graph_module": described, "keys": value["keys"]}
    runs: list[RunRecord] = [{} for _ in trial.inputs]
    return replace(claimed, value=told, tensors=tensors, runs=runs)


def _graph_of(described: GraphRecord, trial: Trial, tensors: list[torch.Tensor]) -> fx.Graph | None:
    try:
        return admitted(described, tensors, trial.functions).graph
    except Exception:
        return None  # the description is inconsistent: the process that runs it reports why


class Writing:
    """Writes the nodes of a description, with unique names, and links derived from arguments.

    Attributes:
        nodes: the nodes written so far.
    """

    def __init__(self) -> None:
        self.nodes: list[NodeRecord] = []
        self._names = fx.Graph()

    def copy(self, row: CallRecord, name: str, values: list[Encoded], tensors: int = 0) -> Tagged:
        """Add a copy of a node, and return the link to it.

        Args:
            row: the node.
            name: the preferred name of the copy.
            values: the replacements of the nodes that it may read, by position.
            tensors: the offset that is added to tensor numbers in its arguments.
        """
        # `_names` is used only to find free names; no graph is made of its nodes.
        free = self._names.create_node("call_method", "copy", name=name).name
        args = self.rewritten(row["args"], values, tensors)
        kwargs = self.rewritten(row["kwargs"], values, tensors)
        new: NodeRecord = {
            "op": row["op"], "name": free, "target": row["target"],
            "args": args, "args_type": "tuple", "kwargs": kwargs, "users": [], "inputs": [],
        }  # fmt: skip
        self.nodes.append(new)
        return {"node": len(self.nodes) - 1}

    def rewritten(self, data: Any, values: list[Encoded], tensors: int = 0) -> Any:
        """Arguments with nodes replaced by their new values, and with tensor numbers shifted."""
        if isinstance(data, list):
            return [self.rewritten(item, values, tensors) for item in data]
        if not isinstance(data, dict):
            return data
        if "tensor" in data:
            return {"tensor": data["tensor"] + tensors}
        if "node" in data:
            if type(data["node"]) is not int or not 0 <= data["node"] < len(values):
                raise ValueError("a node reads a node that does not come before it")
            return values[data["node"]]
        return {kind: self.rewritten(body, values, tensors) for kind, body in data.items()}

    def linked(self) -> list[NodeRecord]:
        """The nodes, with the links that their arguments imply."""
        form = DerivedGraph(cast(GraphRecord, {"nodes": self.nodes}), lambda: None)
        for row, inputs, users in zip(self.nodes, form.inputs, form.users, strict=True):
            row["inputs"] = [{"node": place} for place in inputs]
            row["users"] = [{"node": place} for place in users]
        return self.nodes


class _Splicing(Writing):
    """Copies the nodes of a trace, and replaces calls by the nodes that rules recorded.

    Args:
        trace: the description of the trace.
        value: ``rules`` and ``keys``, as claimed.
        own: the number of tensors of the trace; those of the rules follow in the same table.
    """

    def __init__(self, trace: GraphRecord, value: ResultRecord, own: int) -> None:
        super().__init__()
        self._trace, self._own = trace, own
        calls = ruled_calls(trace["nodes"], value["keys"])
        self._recorded = dict(zip(calls, value["rules"], strict=True))

    def written(self) -> list[NodeRecord]:
        """The nodes, with the links that their arguments imply."""
        values: list[Encoded] = []
        for i, row in enumerate(self._trace["nodes"]):
            if i in self._recorded:
                given = [values[link["node"]] for link in row["inputs"]]
                values.append(self._pasted(self._recorded[i], given))
            else:
                values.append(self.copy(row, row["name"], values))
        return self.linked()

    def _pasted(self, recorded: list[CallRecord], given: list[Encoded]) -> Encoded:
        """Copy the recorded nodes; the call's inputs replace the first placeholders."""
        *inside, output = recorded
        values: list[Encoded] = []
        for row in inside:
            if row["op"] == "placeholder" and len(values) < len(given):
                values.append(given[len(values)])
                continue
            name = re.sub(r"_\d+$", "", row["name"])  # new numbers are assigned
            values.append(self.copy(row, name, values, self._own))
        result: Encoded
        (result,) = self.rewritten(output["args"], values, self._own)["tuple"]
        return result
