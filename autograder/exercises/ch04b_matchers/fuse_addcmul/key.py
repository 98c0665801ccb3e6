"""The answer key of `fuse_addcmul`: each sum of a product is one call, and nothing else changes."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    Evidence,
    Place,
    model_itself,
    places_rewritten,
)


class _Tensors(fx.Interpreter):
    """Runs a graph and collects the nodes whose values are tensors."""

    def __init__(self, gm: fx.GraphModule) -> None:
        super().__init__(gm)
        self.found: set[fx.Node] = set()

    def run_node(self, n: fx.Node) -> object:
        value = super().run_node(n)
        if isinstance(value, torch.Tensor):
            self.found.add(n)
        return value


_MULS = (operator.mul, torch.mul)


def _two_operands(node: Any, functions: tuple[object, ...]) -> list[Any]:
    """The operands of a plain call of one of the functions; ``[]`` for any other node."""
    if not isinstance(node, fx.Node) or node.target not in functions:
        return []
    if not set(node.kwargs) <= {"input", "other"}:
        return []
    given = [*node.args, *(node.kwargs[key] for key in ("input", "other") if key in node.kwargs)]
    return given if len(given) == 2 else []


def sums_of_products(evidence: Evidence) -> list[Place]:
    """The places of `fuse_addcmul`; runs the trace to find the nodes whose values are tensors."""
    tensors = _tensors(evidence)
    nodes = evidence.traced.graph.nodes
    return [place for node in nodes for place in _sum_of_product(node, tensors)]


def _tensors(evidence: Evidence) -> set[fx.Node]:
    """The nodes of the trace whose values are tensors."""
    interpreter = _Tensors(evidence.traced)
    with torch.no_grad():
        interpreter.run(*evidence.case.make(0).inputs[0])
    return interpreter.found


def why_no_place(evidence: Evidence, name: str) -> str:
    """Advice: the first condition of the exercise that a sum does not meet."""
    node = next(node for node in evidence.traced.graph.nodes if node.name == name)
    if node.target not in (operator.add, torch.add):
        return ""
    terms, tensors = _two_operands(node, (operator.add, torch.add)), _tensors(evidence)
    if not terms:
        return f"`{name}` has a further argument. What does it mean, and who computes it now?"
    if terms[0] is terms[1]:
        return f"`{name}` reads the product `{terms[0]}` twice. Which condition is about that?"
    for value in [*terms, *(v for term in terms for v in _two_operands(term, _MULS))]:
        if value not in tensors:
            return f"`{value}`, at the sum `{name}`, is not a tensor. How can your function know?"
    for product in terms:
        if _two_operands(product, _MULS) and len(product.users) > 1:
            return f"The product `{product}` has more readers than `{name}`. What becomes of them?"
    return ""


def _sum_of_product(node: fx.Node, tensors: set[fx.Node]) -> list[Place]:
    terms = _two_operands(node, (operator.add, torch.add))
    if not terms or not all(term in tensors for term in terms) or terms[0] is terms[1]:
        return []
    for product, other in (terms, terms[::-1]):
        factors = _two_operands(product, _MULS)
        if factors and len(product.users) == 1 and all(factor in tensors for factor in factors):
            says = f"adds the product `{product}`, which nothing else reads, and `{other}`"
            return [Place((product.name, node.name), says)]
    return []


KEY = AnswerKey(
    (
        *PASS,
        places_rewritten(
            sums_of_products,
            "a call of `torch.addcmul`",
            "Compare this place with the conditions of the exercise: which spelling, order or "
            "kind of value does your function not expect?",
            why_no_place,
        ),
    ),
    model_itself,
)
