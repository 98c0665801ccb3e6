"""What must come of `fuse_addcmul`: each sum of a product is one call, and nothing else changes."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from autograder.judge.answer_key import AnswerKey
from autograder.judge.evidence import Evidence
from autograder.judge.oracles import model_itself
from autograder.rules.passes import PASS
from autograder.rules.places import Place, places_rewritten


class _Tensors(fx.Interpreter):
    """Runs a graph and notes which nodes hold tensors."""

    def __init__(self, gm: fx.GraphModule) -> None:
        super().__init__(gm)
        self.found: set[fx.Node] = set()

    def run_node(self, n: fx.Node) -> object:
        value = super().run_node(n)
        if isinstance(value, torch.Tensor):
            self.found.add(n)
        return value


def _two_operands(node: fx.Node, functions: tuple[object, ...]) -> list[Any]:
    """The operands of a plain call of one of the functions; ``[]`` for any other node."""
    if node.op != "call_function" or node.target not in functions:
        return []
    if not set(node.kwargs) <= {"input", "other"}:
        return []
    given = [*node.args, *(node.kwargs[key] for key in ("input", "other") if key in node.kwargs)]
    return given if len(given) == 2 else []


def sums_of_products(evidence: Evidence) -> list[Place]:
    """The places of `fuse_addcmul`; which nodes hold tensors is found by running the trace."""
    gm, trial = evidence.traced, evidence.case.make(0)
    tensors = _Tensors(gm)
    with torch.no_grad():
        tensors.run(*trial.inputs[0])
    return [place for node in gm.graph.nodes for place in _sum_of_product(node, tensors.found)]


def _sum_of_product(node: fx.Node, tensors: set[fx.Node]) -> list[Place]:
    terms = _two_operands(node, (operator.add, torch.add))
    if not terms or not all(term in tensors for term in terms) or terms[0] is terms[1]:
        return []
    for product, other in (terms, terms[::-1]):
        factors = _two_operands(product, (operator.mul, torch.mul))
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
        ),
    ),
    model_itself,
)

TRAP = """\
`users` counts nodes, and not reads. In `p + p` the sum is the only user of `p` and reads it twice,
so `len(p.users) == 1` is not enough."""
"""What many answers get wrong; told after a pass."""
