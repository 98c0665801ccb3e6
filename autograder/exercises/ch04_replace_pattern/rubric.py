"""Rules for passes that rewrite places: as many as there are, and nothing else.

Where the places are is found in a fresh trace of the model, by definition of the task. The
result is compared by counting its nodes by kind, so that names, order and the way in which
a node came to be do not matter.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.core.codec import Plain
from autograder.core.graph_view import target_text
from autograder.core.verdict import Finding
from autograder.judge.rule import Rule, Stage, rule

if TYPE_CHECKING:
    from autograder.judge import Evidence

# Spellings of one operation count as the same kind of node.
_KINDS = {
    "operator.add": "an addition",
    "torch.add": "an addition",
    "operator.mul": "a product",
    "torch.mul": "a product",
    "torch._C._nn.hardswish": "a call of `F.hardswish`",
}

_FUSED = "autograder.given.LinearReLU"


@dataclass(frozen=True)
class Place:
    """One place that is to be rewritten.

    Attributes:
        nodes: names of the nodes that go, the last of them is replaced.
        says: what stands there, for a sentence: ``adds the product `mul` to `z` ``.
    """

    nodes: tuple[str, ...]
    says: str


Find = Callable[["Evidence"], list[Place]]


def places_rewritten(find: Find, new: str, look: str) -> Rule:
    """Every place has become one node of the kind `new`, and all else is as it was.

    Args:
        find: the places of a case's model.
        new: the kind of node that stands there afterwards.
        look: where to look when a place was missed.
    """

    def rule(evidence: Evidence) -> Iterable[Finding]:
        places = find(evidence)
        before = {row["name"]: kind_of_node(row, evidence.traced_graph)
                  for row in evidence.traced_graph["nodes"]}  # fmt: skip
        want = Counter(before.values())
        want.subtract(before[name] for place in places for name in place.nodes)
        want[new] += len(places)
        rows = evidence.graph["nodes"]
        got = Counter(kind_of_node(row, evidence.graph) for row in rows)
        yield from _differences(evidence, places, new, look, want, got)

    return Rule("places rewritten", Stage.STRUCTURE, rule)


def _differences(
    evidence: Evidence, places: list[Place], new: str, look: str, want: Counter, got: Counter
) -> Iterator[Finding]:
    here = {(row["name"], kind_of_node(row, evidence.graph)) for row in evidence.graph["nodes"]}
    names = {row["name"]: kind_of_node(row, evidence.traced_graph)
             for row in evidence.traced_graph["nodes"]}  # fmt: skip
    if got[new] < want[new]:
        left = [p for p in places if (p.nodes[-1], names[p.nodes[-1]]) in here]
        text = f"`{left[0].nodes[-1]}` {left[0].says}: that is a place to rewrite." if left else (
            f"{_stands(got[new], new)}; in this model there {_places(want[new])} for it."
        )  # fmt: skip
        nodes = left[0].nodes if left else ()
        yield evidence.finding("missed-place", text, look, nodes=nodes)
    elif got[new] > want[new]:
        yield evidence.finding(
            "changed-too-much",
            f"{_stands(got[new], new)}; in this model there {_places(want[new])} for it.",
            "Go through the conditions of the exercise one by one, for the place below that must "
            "stay as it is.",
        )
    else:
        yield from _other_kinds(evidence, places, want, got)


def _other_kinds(
    evidence: Evidence, places: list[Place], want: Counter, got: Counter
) -> Iterator[Finding]:
    gone = {kind_of_node(row, evidence.traced_graph): row["name"]
            for place in places for row in evidence.traced_graph["nodes"]
            if row["name"] in place.nodes}  # fmt: skip
    for kind in got | want:
        if got[kind] > want[kind] and kind in gone:
            yield evidence.finding(
                "left-behind",
                f"{_stands(got[kind], kind)}; after the rewriting it should "
                f"{'not stand there any more' if not want[kind] else f'be {_times(want[kind])}'}.",
                "What a rewritten place computed before has to be erased with it.",
            )
            return
        if got[kind] != want[kind]:
            yield evidence.finding(
                "changed-too-much",
                f"{_stands(got[kind], kind)}, and it should be {_times(want[kind])}: all that is "
                "no part of a rewritten place stays as it is.",
                "Compare the graphs before and after.",
            )
            return


def _stands(count: int, kind: str) -> str:
    return f"{kind[0].upper()}{kind[1:]} stands in your graph {_times(count)}"


def _times(count: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _places(count: int) -> str:
    return {0: "is no place", 1: "is one place"}.get(count, f"are {count} places")


def kind_of_node(row: Plain, graph: Plain) -> str:
    """A described node's kind, in words: spellings of one operation are the same kind."""
    op, target = row["op"], row["target"]
    if op == "call_function":
        ((_, name),) = target.items()
        return _KINDS.get(name) or f"a call of `{target_text(target)}`"
    if op == "call_method":
        return f"a call of `.{target}()`"
    if op == "call_module":
        return f"a call of a `{class_of(target, graph).rpartition('.')[2]}`"
    return f"a `{op}` node"


def class_of(path: str, graph: Plain) -> str:
    """The full name of the class of a described module; ``""`` where there is none."""
    rows = {row["path"]: row for row in graph["modules"]}
    row = rows.get(path, {})
    return rows.get(row.get("same_as"), row).get("class", "")


# ------------------------------------------------------------------ where the places are


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


def _two_operands(node: fx.Node, functions: tuple[object, ...]) -> list[object]:
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


def hardswishes(evidence: Evidence) -> list[Place]:
    """The places of `to_hardswish`."""
    found = []
    for node in evidence.traced.graph.nodes:
        parts = _hardswish(node)
        if parts and all(len(part.users) == 1 for part in parts[:-1]):
            names = tuple(part.name for part in parts)
            found.append(Place(names, f"ends a hard swish of `{parts[0].args[0]}`"))
    return found


def _hardswish(quotient: fx.Node) -> list[fx.Node]:
    """Sum, gate, product and quotient, if that is what the node ends."""

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


def linears_before_relu(evidence: Evidence) -> list[Place]:
    """The places of `fuse_linear_relu`."""
    gm = evidence.traced

    def is_module(node: fx.Node, kind: type[nn.Module]) -> bool:
        return node.op == "call_module" and isinstance(gm.get_submodule(node.target), kind)

    def is_relu(node: fx.Node) -> bool:
        by_name = node.op == "call_method" and node.target == "relu"
        return by_name or node.target in (torch.relu, F.relu) or is_module(node, nn.ReLU)

    found = []
    for node in gm.graph.nodes:
        users = list(node.users)
        if is_module(node, nn.Linear) and len(users) == 1 and is_relu(users[0]):
            names = (node.name, users[0].name)
            found.append(Place(names, f"is a ReLU, and the only reader of the linear `{node}`"))
    return found


# ------------------------------------------------------------------ what a fused module holds


@rule("layers of the model", Stage.COPY)
def layers_of_the_model(evidence: Evidence) -> Iterable[Finding]:
    """A `LinearReLU` holds the linear layer that stood there, with its parameters.

    Who traces a copy of the whole model shares nothing with it, and holds the copy's layers.
    """
    rows = {row["path"]: row for row in evidence.graph["modules"]}
    found = [entry for row in rows.values() for entry in row.get("params", {}).values() if entry]
    if not any(entry["origin"] for entry in found):
        return
    for node in evidence.graph["nodes"]:
        if node["op"] != "call_module" or class_of(node["target"], evidence.graph) != _FUSED:
            continue
        row = rows[node["target"]]
        layer = rows.get(f"{row.get('same_as', row['path'])}.linear", {})
        layer = rows.get(layer.get("same_as"), layer)
        weight = layer.get("params", {}).get("weight")
        if not (weight and weight["origin"]):
            yield evidence.finding(
                "not-shared",
                f"The `LinearReLU` that `{node['name']}` calls holds a linear layer with the "
                "same numbers, but not the model's own: it is a copy.",
                "When somebody trains the model, the result is to see it. A trace shares its "
                "layers with the model; `copy.deepcopy` does not.",
                nodes=(node["name"],),
            )
            return
