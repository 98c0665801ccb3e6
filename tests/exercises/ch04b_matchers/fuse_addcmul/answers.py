"""Answers to `fuse_addcmul`."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch.fx.subgraph_rewriter import replace_pattern_with_filters

from tests.exercises import ONE_CLASS_EACH, kept_by_class, right, wrong

ADDS, MULS = (operator.add, torch.add), (operator.mul, torch.mul)
METHODS = {"size", "dim", "numel", "ndimension", "nelement", "stride", "item", "tolist"}
ATTRIBUTES = {"shape", "ndim", "dtype", "device"}


def operands(node: Any, functions: tuple[Any, ...]) -> tuple[Any, ...]:
    """The two operands of a plain call; ``()`` for any other node."""
    if not isinstance(node, fx.Node) or node.op != "call_function":
        return ()
    if node.target not in functions or len(node.args) > 2:
        return ()
    named = {**dict(zip(("input", "other"), node.args, strict=False)), **node.kwargs}
    return (named["input"], named["other"]) if set(named) == {"input", "other"} else ()


def holds_tensor(value: Any) -> bool:
    """Whether a value of the graph is a node whose value is a tensor."""
    if not isinstance(value, fx.Node):
        return False
    if value.op == "placeholder":
        return not any(isinstance(default, (int, float)) for default in value.args)
    if value.op == "call_method":
        return value.target not in METHODS
    if value.op != "call_function":
        return True
    if value.target is getattr:
        return value.args[1] not in ATTRIBUTES
    if value.target.__module__ in ("_operator", "math"):
        return any(map(holds_tensor, value.all_input_nodes))
    return True


@dataclass
class Fuse:
    """A right fusion; each flag makes it wrong in one way."""

    left_only: bool = False
    adds: tuple[Any, ...] = ADDS
    muls: tuple[Any, ...] = MULS
    keywords: bool = True
    same_factor: bool = True
    reuse: bool = True
    sole_reader: bool = True
    itself: bool = False
    tensor: Any = staticmethod(holds_tensor)
    operands: Any = staticmethod(operands)
    recompile: bool = True
    swapped: bool = False

    def find(self, node: fx.Node) -> Any:
        terms = self.operands(node, self.adds)
        if not terms or not all(map(self.tensor, terms)):
            return None
        for product, other in (terms,) if self.left_only else (terms, terms[::-1]):
            factors = self.operands(product, self.muls)
            if not factors or not all(map(self.tensor, factors)):
                continue
            if not self.keywords and (node.kwargs or product.kwargs):
                continue
            if not self.same_factor and factors[0] is factors[1]:
                continue
            if not self.reuse and other in factors:
                continue
            if self.sole_reader and len(product.users) != 1:
                continue
            if product is other and not self.itself:
                continue
            return product, other, factors
        return None

    def __call__(self, model: Any) -> fx.GraphModule:
        gm = fx.symbolic_trace(model)
        for node in list(gm.graph.nodes):
            found = self.find(node)
            if found is None:
                continue
            product, other, (a, b) = found
            with gm.graph.inserting_before(node):
                args = (a, b, other) if self.swapped else (other, a, b)
                fused = gm.graph.call_function(torch.addcmul, args)
            node.replace_all_uses_with(fused)
            gm.graph.erase_node(node)
            if not product.users:
                gm.graph.erase_node(product)
        if self.recompile:
            gm.recompile()
        return gm


@right("a loop over the sums")
def loop(model):
    return Fuse()(model)


@right("the product on the right is tried first", debrief=True)
def right_first(model):
    gm = fx.symbolic_trace(model)
    for total in gm.graph.nodes:
        terms = operands(total, ADDS)
        if len(terms) != 2 or not (holds_tensor(terms[0]) and holds_tensor(terms[1])):
            continue
        for i in (1, 0):
            factors = operands(terms[i], MULS)
            if not factors or terms[0] is terms[1] or list(terms[i].users) != [total]:
                continue
            if all(holds_tensor(factor) for factor in factors):
                # The sum itself becomes the fused call.
                total.target = torch.addcmul
                total.args, total.kwargs = (terms[1 - i], *factors), {}
                gm.graph.erase_node(terms[i])
                break
    gm.recompile()
    return gm


@right("keyword arguments, and a value of 1")
def keywords_in_the_result(model):
    gm = fx.symbolic_trace(model)
    finder = Fuse()
    for node in list(gm.graph.nodes):
        if finder.find(node):
            product, other, (a, b) = finder.find(node)
            with gm.graph.inserting_after(node):
                fused = gm.graph.call_function(
                    torch.addcmul, (), {"input": other, "tensor1": b, "tensor2": a, "value": 1}
                )
            node.replace_all_uses_with(fused)
            gm.graph.erase_node(node)
            gm.graph.erase_node(product)
    gm.graph.lint()
    gm.recompile()
    return gm


@right("a new graph, copied node by node")
def new_graph(model):
    gm = fx.symbolic_trace(model)
    finder, env, graph = Fuse(), {}, fx.Graph()
    places = {node: finder.find(node) for node in gm.graph.nodes if finder.find(node)}
    gone = {product for product, _, _ in places.values()}
    for node in gm.graph.nodes:
        if node in gone:
            continue
        if node in places:
            _, other, factors = places[node]
            env[node] = graph.call_function(torch.addcmul, (env[other], *(env[f] for f in factors)))
        else:
            env[node] = graph.node_copy(node, lambda old: env[old])
    return fx.GraphModule(gm, graph)


@right("plain calls as operators, then ten patterns with a filter")
def patterns(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        for function, plain in ((torch.add, operator.add), (torch.mul, operator.mul)):
            if operands(node, (function,)):
                node.args, node.kwargs = operands(node, (function,)), {}
                node.target = plain

    def tensors_only(match, graph, pattern_graph):
        return all(map(holds_tensor, match.placeholder_nodes))

    addcmul = torch.addcmul
    rules = [
        (lambda a, b, c: a * b + c, lambda a, b, c: addcmul(c, a, b)),
        (lambda a, b, c: c + a * b, lambda a, b, c: addcmul(c, a, b)),
        (lambda a, c: a * a + c, lambda a, c: addcmul(c, a, a)),
        (lambda a, c: c + a * a, lambda a, c: addcmul(c, a, a)),
        (lambda a, b: a * b + a, lambda a, b: addcmul(a, a, b)),
        (lambda a, b: b * a + a, lambda a, b: addcmul(a, a, b)),
        (lambda a, b: a + a * b, lambda a, b: addcmul(a, a, b)),
        (lambda a, b: a + b * a, lambda a, b: addcmul(a, a, b)),
        (lambda a: a * a + a, lambda a: addcmul(a, a, a)),
        (lambda a: a + a * a, lambda a: addcmul(a, a, a)),
    ]
    for pattern, replacement in rules:
        replace_pattern_with_filters(gm, pattern, replacement, [tensors_only])
    return gm


def _is_arithmetic(function):
    name = function.__name__
    return function in (getattr(operator, name, None), getattr(math, name, None))


@right("types are inferred first, in one sweep")
def inferred(model):
    gm = fx.symbolic_trace(model)
    number: dict[fx.Node, bool] = {}
    for node in gm.graph.nodes:
        reads = [number[n] for n in node.all_input_nodes]
        if node.op == "placeholder":
            number[node] = bool(node.args) and not isinstance(node.args[0], torch.Tensor)
        elif node.op == "call_method":
            number[node] = node.target in METHODS
        elif node.op == "call_function" and node.target is getattr:
            number[node] = node.args[1] in ATTRIBUTES
        elif node.op == "call_function" and _is_arithmetic(node.target):
            number[node] = all(reads)
        else:
            number[node] = False
    is_tensor = lambda value: isinstance(value, fx.Node) and not number.get(value)  # noqa: E731
    finder = Fuse(tensor=is_tensor)
    for node in reversed(list(gm.graph.nodes)):
        found = finder.find(node)
        if found:
            with gm.graph.inserting_before(node):
                fused = gm.graph.call_function(torch.addcmul, (found[1], *found[2]))
            number[fused] = False
            node.replace_all_uses_with(fused)
            gm.graph.erase_node(node)
            gm.graph.erase_node(found[0])
    gm.recompile()
    return gm


# ------------------------------------------------------------------ wrong


@wrong("x * x + z is missed", "missed-place", clause="same-twice")
def no_squares(model):
    return Fuse(same_factor=False)(model)


@wrong("x * y + x is missed", "missed-place", clause="same-in-sum")
def no_reuse(model):
    return Fuse(reuse=False)(model)


@wrong("product on the left only", "missed-place", clause="either-side")
def left_only(model):
    return Fuse(left_only=True)(model)


@wrong("operators only", "missed-place", clause="functions")
def operators_only(model):
    return Fuse(adds=(operator.add,), muls=(operator.mul,))(model)


@wrong("no keyword calls", "missed-place", clause="keywords")
def no_keywords(model):
    return Fuse(keywords=False)(model)


@wrong("numbers may stand anywhere", "changed-too-much", clause="no-numbers, no-sizes")
def numbers_too(model):
    return Fuse(tensor=lambda value: True)(model)


def _tensor_without(*, methods=METHODS, defaults=True):
    def tensor(value: Any) -> bool:
        if not isinstance(value, fx.Node):
            return False
        if value.op == "placeholder" and defaults:
            return holds_tensor(value)
        if value.op == "call_method":
            return value.target not in methods
        if value.op == "call_function" and value.target is getattr:
            return value.args[1] not in ATTRIBUTES
        if value.op == "call_function" and value.target is operator.getitem:
            return tensor(value.args[0])
        if value.op == "call_function":
            if value.target.__module__ in ("_operator", "math"):
                return any(map(tensor, value.all_input_nodes))
        return True

    return tensor


@wrong("size() is taken for a tensor", "changed-too-much", clause="no-sizes")
def size_is_tensor(model):
    return Fuse(tensor=_tensor_without(methods=METHODS - {"size"}))(model)


@wrong("a default number is taken for a tensor", "changed-too-much", clause="no-numbers")
def default_is_tensor(model):
    return Fuse(tensor=_tensor_without(defaults=False))(model)


@wrong("sums over everything are taken for numbers", "missed-place", clause="tensors")
def sums_are_numbers(model):
    return Fuse(tensor=_tensor_without(methods={*METHODS, "sum", "mean", "max", "min"}))(model)


@wrong("other readers of the product do not matter", "changed-too-much", clause="sole-reader")
def other_readers(model):
    return Fuse(sole_reader=False)(model)


@wrong("a product added to itself", "changed-too-much", clause="reads-once")
def added_to_itself(model):
    return Fuse(itself=True)(model)


@wrong("alpha and out are ignored", "changed-too-much", clause="no-alpha")
def ignores_alpha(model):
    def loose(node, functions):
        if isinstance(node, fx.Node) and node.op == "call_function" and node.target in functions:
            named = {**dict(zip(("input", "other"), node.args, strict=False)), **node.kwargs}
            return named["input"], named["other"]
        return ()

    return Fuse(operands=loose)(model)


@right("an alpha of 1 counts as none")
def alpha_of_one(model):
    def loose(node, functions):
        if isinstance(node, fx.Node) and node.target in functions and node.kwargs == {"alpha": 1}:
            return node.args
        return operands(node, functions)

    return Fuse(operands=loose)(model)


@wrong("torch.multiply counts as torch.mul", "changed-too-much", clause="rest")
def multiply_too(model):
    return Fuse(muls=(*MULS, torch.multiply))(model)


@wrong("methods, too", "changed-too-much", clause="rest")
def methods_too(model):
    def loose(node, functions):
        names = {"add"} if operator.add in functions else {"mul"}
        if isinstance(node, fx.Node) and node.op == "call_method" and node.target in names:
            return node.args
        return operands(node, functions)

    return Fuse(operands=loose)(model)


@wrong("arguments in the order a, b, c", "wrong-result", clause="arguments")
def wrong_order(model):
    return Fuse(swapped=True)(model)


@wrong("recompile is missing", "stale-code", clause="common.recompiled")
def stale(model):
    return Fuse(recompile=False)(model)


@wrong("the caller's graph is rewritten", "caller-changed", clause="common.fresh-trace")
def rewrites_the_caller(model):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    fx.replace_pattern(gm, lambda a: torch.add(a, 1), lambda a: a + 1)
    replacement = lambda a, b, c: torch.addcmul(c, a, b)  # noqa: E731
    fx.replace_pattern(gm, lambda a, b, c: a * b + c, replacement)
    return Fuse()(gm)


wrong("kept by the class of the model", "missed-place", clause="common.own-result")(
    kept_by_class(loop)
)


BEYOND = {
    "kept by the class of the model": ONE_CLASS_EACH,
}


DECIDES_NOTHING = [
    (r"value\.graph_module\.nodes\[\]\.kwargs\.dict.*", "a keyword may say its default"),
]
"""Places in an outcome that decide no points, with the reason."""
