"""The answer key of `to_hardswish`: each hard swish is one call, and nothing else changes."""

from __future__ import annotations

import operator
from typing import Any

import torch.nn.functional as F
from torch import fx

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    Evidence,
    Place,
    model_itself,
    places_rewritten,
)


def hardswishes(evidence: Evidence) -> list[Place]:
    """The places of `to_hardswish`."""
    found = []
    for node in evidence.traced.graph.nodes:
        parts = _hardswish(node)
        if parts and all(len(part.users) == 1 for part in parts[:-1]):
            names = tuple(part.name for part in parts)
            found.append(Place(names, f"ends a hard swish of `{parts[0].args[0]}`"))
    return found


def _hardswish(quotient: Any) -> list[fx.Node]:
    """Sum, gate, product and quotient, if the node is the last of a hard swish; else ``[]``."""

    def is_call(node: object, function: object) -> bool:
        return isinstance(node, fx.Node) and node.target is function

    def is_number(value: object, number: int) -> bool:
        return type(value) in (int, float) and value == number

    if not is_call(quotient, operator.truediv) or not is_number(quotient.args[1], 6):
        return []
    product = quotient.args[0]
    if not is_call(product, operator.mul):
        return []
    for x, gate in (product.args, product.args[::-1]):
        if is_call(gate, F.relu6) and is_call(gate.args[0], operator.add):
            total = gate.args[0]
            if total.args[0] is x and is_number(total.args[1], 3):
                return [total, gate, product, quotient]
    return []


KEY = AnswerKey(
    (
        *PASS,
        places_rewritten(
            hardswishes,
            "a call of `F.hardswish`",
            "A pattern says exactly one thing: this order of the factors, and these numbers, an "
            "int or a float.",
        ),
    ),
    model_itself,
)
