"""Answers to `to_hardswish`."""

from __future__ import annotations

import itertools
import operator

import torch
import torch.nn.functional as F
from torch import fx
from torch.fx.subgraph_rewriter import replace_pattern_with_filters

from tests.exercises import right, wrong


def _hardswish(x):
    return F.hardswish(x)


def _patterns(three, six):
    def gate_last(x):
        return x * F.relu6(x + three) / six

    def gate_first(x):
        return F.relu6(x + three) * x / six

    return [gate_last, gate_first]


def _all_patterns(threes=(3, 3.0), sixes=(6, 6.0)):
    pairs = itertools.product(threes, sixes)
    return [pattern for three, six in pairs for pattern in _patterns(three, six)]


def _rewrite(model, patterns, replacement=_hardswish):
    gm = fx.symbolic_trace(model)
    for pattern in patterns:
        fx.replace_pattern(gm, pattern, replacement)
    return gm


@right("eight patterns")
def eight_patterns(model):
    return _rewrite(model, _all_patterns())


@right("one pattern with wildcards, and a filter", debrief=True)
def with_filters(model):
    def with_numbers(gate_is_left):
        def pattern(x, three, six):
            gate = F.relu6(x + three)
            return (gate * x if gate_is_left else x * gate) / six

        return pattern

    def numbers_fit(match, graph, pattern_graph):
        _, three, six = match.placeholder_nodes
        return all(type(n) in (int, float) for n in (three, six)) and (three, six) == (3, 6)

    def replacement(x, three, six):
        return F.hardswish(x)

    gm = fx.symbolic_trace(model)
    for gate_is_left in (True, False):
        replace_pattern_with_filters(gm, with_numbers(gate_is_left), replacement, [numbers_fit])
    return gm


def _match(
    quotient,
    sole_reader=lambda node: len(node.users) == 1,
    numbers=(int, float),
    first_gate=False,
):
    """The input of a hard swish that ends at a node, and its inner nodes; else None."""

    def call(value, function):
        return isinstance(value, fx.Node) and value.target is function

    def number(value, wanted):
        return isinstance(value, numbers) and value == wanted

    if not call(quotient, operator.truediv) or not number(quotient.args[1], 6):
        return None
    product = quotient.args[0]
    if not call(product, operator.mul):
        return None
    for x, gate in (product.args, product.args[::-1]):
        if call(gate, F.relu6) and call(gate.args[0], operator.add):
            total = gate.args[0]
            if total.args[0] is x and number(total.args[1], 3):
                inside = [product, gate, total]
                return (x, inside) if all(map(sole_reader, inside)) else None
            if first_gate:
                return None
    return None


@right("a loop over the nodes")
def own_matcher(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        found = _match(node)
        if found:
            x, inside = found
            with gm.graph.inserting_after(node):
                new = gm.graph.call_function(F.hardswish, (x,), {"inplace": False})
            node.replace_all_uses_with(new)
            for old in (node, *inside):
                gm.graph.erase_node(old)
    gm.graph.lint()
    gm.recompile()
    return gm


@right("the quotient is retargeted, what is dead goes")
def retargets(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        found = _match(node)
        if found:
            node.target, node.args = F.hardswish, (found[0],)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


@right("graphs as patterns, traced again between rounds")
def graphs_as_patterns(model):
    replacement = fx.symbolic_trace(_hardswish)
    for pattern in reversed(_all_patterns()):
        model = fx.symbolic_trace(model)
        fx.replace_pattern(model, fx.symbolic_trace(pattern), replacement)
    return model


@right("patterns built as text")
def patterns_from_text(model):
    forms = ["x * F.relu6(x + {}) / {}", "F.relu6(x + {}) * x / {}"]
    gm = fx.symbolic_trace(model)
    for form in forms:
        for three, six in itertools.product(("3", "3.0"), ("6", "6.0")):
            pattern = eval("lambda x: " + form.format(three, six), {"F": F})
            fx.replace_pattern(gm, pattern, lambda x: torch.nn.functional.hardswish(x))
    return gm


@wrong("the untouched stub", "not-attempted")
def stub(model):
    raise NotImplementedError()


@wrong("only one order", "missed-place", clause="both-orders")
def one_order(model):
    return _rewrite(model, _all_patterns()[::2])


@wrong("only ints", "missed-place", clause="numbers")
def only_ints(model):
    return _rewrite(model, _patterns(3, 6))


@wrong("both ints or both floats", "missed-place")
def no_mixture(model):
    return _rewrite(model, [*_patterns(3, 6), *_patterns(3.0, 6.0)])


@wrong("numbers are not compared", "changed-too-much", clause="these-numbers")
def ignores_literals(model):
    gm = fx.symbolic_trace(model)
    for pattern in _patterns(3, 6):
        replace_pattern_with_filters(gm, pattern, _hardswish, ignore_literals=True)
    return gm


@wrong("any numbers, by placeholders", "changed-too-much")
def any_numbers(model):
    def gate_last(x, three, six):
        return x * F.relu6(x + three) / six

    def gate_first(x, three, six):
        return F.relu6(x + three) * x / six

    return _rewrite(model, [gate_last, gate_first], lambda x, three, six: F.hardswish(x))


@wrong("numbers near 3 and 6 are close enough", "changed-too-much")
def close_numbers(model):
    gm = fx.symbolic_trace(model)
    numbers = [n.args[1] for n in gm.graph.nodes if n.target in (operator.add, operator.truediv)]
    numbers = [n for n in numbers if isinstance(n, (int, float))]
    near = [[n for n in numbers if abs(n - want) < 0.2] for want in (3, 6)]
    return _rewrite(model, _all_patterns(*near))


@wrong("two values instead of one", "changed-too-much", clause="same-x")
def two_values(model):
    def patterns(three, six):
        return [
            lambda x, y: y * F.relu6(x + three) / six,
            lambda x, y: F.relu6(x + three) * y / six,
        ]

    gm = _rewrite(model, _all_patterns())
    for three, six in itertools.product((3, 3.0), (6, 6.0)):
        for pattern in patterns(three, six):
            fx.replace_pattern(gm, pattern, lambda x, y: F.hardswish(x))
    return gm


def _matched(model, sole_reader):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        found = _match(node, sole_reader)
        if found:
            node.target, node.args = F.hardswish, (found[0],)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


@wrong("inner values may be read elsewhere", "changed-too-much", clause="read-elsewhere")
def inner_readers_allowed(model):
    return _matched(model, lambda inner: True)


@wrong("only the gate's readers are counted", "changed-too-much")
def only_the_gate(model):
    return _matched(model, lambda inner: inner.target is not F.relu6 or len(inner.users) == 1)


@wrong("readers by keyword are no readers", "changed-too-much")
def positional_readers(model):
    def read_once(inner):
        read = []
        for node in inner.graph.nodes:
            fx.map_arg(node.args, lambda n: read.append(n) if n is inner else None)
        return len(read) == 1

    return _matched(model, read_once)


@wrong("dead nodes stay behind", "left-behind")
def leaves_dead_nodes(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        found = _match(node)
        if found:
            node.target, node.args = F.hardswish, (found[0],)
    gm.recompile()
    return gm


@wrong("recompile is missing", "stale-code")
def stale(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        found = _match(node)
        if found:
            node.target, node.args = F.hardswish, (found[0],)
    gm.graph.eliminate_dead_code()
    return gm


@wrong("the caller's graph is rewritten", "caller-changed")
def rewrites_the_caller(model):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    for pattern in _all_patterns():
        fx.replace_pattern(gm, pattern, _hardswish)
    return gm


@wrong("in place", "argument-changed")
def in_place(model):
    return _rewrite(model, _all_patterns(), lambda x: F.hardswish(x, inplace=True))


@wrong("the hard sigmoid instead", "missed-place", clause="one-call")
def hardsigmoid(model):
    return _rewrite(model, _all_patterns(), lambda x: F.hardsigmoid(x))


@wrong("the matches are returned", "not-a-graph-module")
def returns_matches(model):
    gm = fx.symbolic_trace(model)
    return [m for p in _all_patterns() for m in fx.replace_pattern(gm, p, _hardswish)]


@wrong("F.hardswish itself as the replacement", "crashed")
def replacement_with_two_parameters(model):
    return _rewrite(model, _all_patterns(), F.hardswish)


@wrong("the division is forgotten in the pattern", "left-behind")
def without_division(model):
    return _rewrite(model, [lambda x: x * F.relu6(x + 3), lambda x: F.relu6(x + 3) * x])


@wrong("the first factor that is the ReLU6 of a sum is the gate", "missed-place")
def first_gate(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        found = _match(node, first_gate=True)
        if found:
            node.target, node.args = F.hardswish, (found[0],)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return gm


@wrong("floor division, too", "changed-too-much")
def floor_division(model):
    patterns = [lambda x: x * F.relu6(x + 3) // 6, lambda x: F.relu6(x + 3) * x // 6]
    return _rewrite(model, [*_all_patterns(), *patterns])


@wrong("six divided by the product, too", "changed-too-much")
def turned_division(model):
    patterns = [lambda x: 6 / (x * F.relu6(x + 3)), lambda x: 6 / (F.relu6(x + 3) * x)]
    return _rewrite(model, [*_all_patterns(), *patterns])


@wrong("the sign of the numbers is overlooked", "changed-too-much")
def any_sign(model):
    return _rewrite(model, _all_patterns((3, 3.0, -3), (6, 6.0, -6)))


@wrong("the numbers may be exchanged", "changed-too-much")
def exchanged_numbers(model):
    return _rewrite(model, [*_all_patterns(), *_all_patterns((6, 6.0), (3, 3.0))])


@wrong("the gate is found by the name of its node", "changed-too-much")
def gate_by_name(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.name.startswith("relu6"):
            node.op, node.target = "call_function", F.relu6
    gm.recompile()
    return eight_patterns(gm)


@wrong("functions are known by their `__name__`", "changed-too-much")
def by_dunder_name(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if getattr(node.target, "__name__", "") == "relu6":
            node.target = F.relu6
            node.meta.pop("is_wrapped", None)
    gm.recompile()
    return eight_patterns(gm)


BEYOND = {
    "functions are known by their `__name__`": "random models call no functions of a notebook",
    "six divided by the product, too": "right answers round otherwise, and near 0 much comes of it",
    "floor division, too": "right answers round otherwise, and a floor would make a step of that",
}


DECIDES_NOTHING = [
    (
        r"value\.graph_module\.nodes\[\]\.kwargs\.dict.*",
        "`inplace=False` is said again where it is the default",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
