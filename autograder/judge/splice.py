"""Puts what decomposition rules have recorded into a model's trace, as plain data.

A student's process runs each rule by itself and describes what it records. What is here is a full
answer to `decompose`, which that process must not hold. It handles descriptions only: what comes
out is one, too, to be admitted and run like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from torch import fx

from autograder.core.codec import Encoder, Plain
from autograder.core.graph_program import admitted
from autograder.core.graph_record import describe
from autograder.core.outcome import Outcome
from autograder.judge.derived_graph import Form

if TYPE_CHECKING:
    from autograder.judge.evidence import Evidence


def ruled_calls(nodes: Iterable[Plain], keys: Plain) -> list[int]:
    """The places of the nodes that call a function with a rule.

    Args:
        nodes: the nodes of a model's trace, as they are described.
        keys: the functions that have rules, as they are claimed.
    """
    return [
        i
        for i, row in enumerate(nodes)
        if row["op"] == "call_function" and row["target"] in keys["list"]
    ]


def with_rules_applied(evidence: Evidence) -> Outcome:
    """The outcome of an answer that returned rules, as if it had decomposed the model with them.

    Where what is claimed does not fit together, only the functions that have rules are left.
    """
    claimed = evidence.claimed
    value = claimed.value
    if not (isinstance(value, dict) and "rules" in value):
        return claimed
    encoder = Encoder(evidence.trial.functions)
    try:
        trace = describe(evidence.traced, encoder)
        tensors = [*encoder.tensors, *claimed.tensors]
        nodes = _Splicing(trace, value, len(encoder.tensors)).written()
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        return replace(claimed, value={"keys": value.get("keys")})
    described = {**trace, "nodes": nodes}
    graph = _graph_of(described, evidence, Outcome("", tensors=tensors))
    code = Form(described, lambda: graph).code
    described |= {"code": code, "fresh_code": code}
    told = {"graph_module": described, "keys": value["keys"]}
    runs: list[Plain] = [{} for _ in evidence.trial.inputs]
    return replace(claimed, value=told, tensors=tensors, runs=runs)


def _graph_of(described: Plain, evidence: Evidence, outcome: Outcome) -> fx.Graph | None:
    try:
        return admitted(described, outcome.tensors, evidence.trial.functions).graph
    except Exception:
        return None  # it does not fit together: whoever runs it says why


class Writing:
    """Writes the nodes of a description, with links that its arguments make and names of its own.

    Attributes:
        nodes: what is written so far.
    """

    def __init__(self) -> None:
        self.nodes: list[Plain] = []
        self._names = fx.Graph()

    def copy(self, row: Plain, name: str, values: list[Plain], tensors: int = 0) -> Plain:
        """Add a copy of a node; what it is referred to by.

        Args:
            row: the node.
            name: how the copy would like to be called.
            values: what is in place of the nodes that it may read, by their places.
            tensors: how far tensors of its arguments have moved in the table.
        """
        # FX knows which names are free; no other graph is made of these nodes.
        free = self._names.create_node("call_method", "copy", name=name).name
        args = self.rewritten(row["args"], values, tensors)
        kwargs = self.rewritten(row["kwargs"], values, tensors)
        new = {"op": row["op"], "name": free, "target": row["target"]}
        self.nodes.append(new | {"args": args, "args_type": "tuple", "kwargs": kwargs})
        return {"node": len(self.nodes) - 1}

    def rewritten(self, data: Plain, values: list[Plain], tensors: int = 0) -> Plain:
        """Arguments, with what is now in place of nodes, and tensors in their new places."""
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

    def linked(self) -> list[Plain]:
        """The nodes, with the links that their arguments make."""
        form = Form({"nodes": self.nodes}, lambda: None)
        for row, inputs, users in zip(self.nodes, form.inputs, form.users, strict=True):
            row["inputs"] = [{"node": place} for place in inputs]
            row["users"] = [{"node": place} for place in users]
        return self.nodes


class _Splicing(Writing):
    """Writes the nodes of a trace once more, with what rules recorded in the place of calls.

    Args:
        trace: the description of the trace.
        value: ``rules`` and ``keys``, as they are claimed.
        own: how many tensors the trace has: those of the rules follow them in one table.
    """

    def __init__(self, trace: Plain, value: Plain, own: int) -> None:
        super().__init__()
        self._trace, self._own = trace, own
        calls = ruled_calls(trace["nodes"], value["keys"])
        self._recorded = dict(zip(calls, value["rules"], strict=True))

    def written(self) -> list[Plain]:
        """The nodes, with the links that their arguments make."""
        values: list[Plain] = []
        for i, row in enumerate(self._trace["nodes"]):
            if i in self._recorded:
                given = [values[link["node"]] for link in row["inputs"]]
                values.append(self._pasted(self._recorded[i], given))
            else:
                values.append(self.copy(row, row["name"], values))
        return self.linked()

    def _pasted(self, recorded: list[Plain], given: list[Plain]) -> Plain:
        """Copy what a rule recorded; its first placeholders are the inputs of the call."""
        *inside, output = recorded
        values: list[Plain] = []
        for row in inside:
            if row["op"] == "placeholder" and len(values) < len(given):
                values.append(given[len(values)])
                continue
            name = re.sub(r"_\d+$", "", row["name"])  # numbers are given anew
            values.append(self.copy(row, name, values, self._own))
        (result,) = self.rewritten(output["args"], values, self._own)["tuple"]
        return result
