"""Decomposition rules: the nodes that each rule records, once for each call that has a rule."""

from __future__ import annotations

from typing import Any, cast

from torch import fx, nn

from autograder.core.codec import Encoder
from autograder.core.graph_record import describe_nodes
from autograder.judge.judged_kind import JudgedKind
from autograder.judge.schema import Check, Parts, Runs, both, data, fields, rows
from autograder.judge.splice import ruled_calls


def _schema(parts: Parts) -> tuple[Check, Runs]:
    if not (isinstance(parts.value, dict) and "keys" in parts.value):
        return data(parts)
    keys = fields(list=rows(parts.plain))
    if "rule_error" in parts.value:
        return fields(rule_error=parts.error, keys=keys), []

    def once_a_call(value: Any) -> bool:
        graph = fx.symbolic_trace(cast(nn.Module, parts.trial.model)).graph
        trace = describe_nodes(graph, Encoder())
        calls = ruled_calls(trace, value["keys"])
        return len(value["rules"]) == len(calls)

    return both(fields(rules=rows(rows(parts.instruction)), keys=keys), once_a_call), []


KIND = JudgedKind(_schema)
