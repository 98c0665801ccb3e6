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


def _all_patterns():
    pairs = itertools.product((3, 3.0), (6, 6.0))
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


def _match(quotient, sole_reader=lambda node: len(node.users) == 1):
    """The input of a hard swish that ends at a node, and its inner nodes; else None."""

    def call(value, function):
        return isinstance(value, fx.Node) and value.target is function

    def number(value, wanted):
        return isinstance(value, (int, float)) and value == wanted

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


@wrong("only one order", "missed-place", clause="both-orders")
def one_order(model):
    return _rewrite(model, _all_patterns()[::2])


@wrong("only ints", "missed-place", clause="numbers")
def only_ints(model):
    return _rewrite(model, _patterns(3, 6))


@wrong("numbers are not compared", "changed-too-much", clause="these-numbers")
def ignores_literals(model):
    gm = fx.symbolic_trace(model)
    for pattern in _patterns(3, 6):
        replace_pattern_with_filters(gm, pattern, _hardswish, ignore_literals=True)
    return gm


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


@wrong("dead nodes stay behind", "left-behind", clause="one-call")
def leaves_dead_nodes(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        found = _match(node)
        if found:
            node.target, node.args = F.hardswish, (found[0],)
    gm.recompile()
    return gm


@wrong("recompile is missing", "stale-code", clause="common.recompiled")
def stale(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        found = _match(node)
        if found:
            node.target, node.args = F.hardswish, (found[0],)
    gm.graph.eliminate_dead_code()
    return gm


@wrong("the caller's graph is rewritten", "caller-changed", clause="common.caller-graph")
def rewrites_the_caller(model):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    for pattern in _all_patterns():
        fx.replace_pattern(gm, pattern, _hardswish)
    return gm


@wrong("F.hardswish itself as the replacement", "crashed", clause="one-call")
def replacement_with_two_parameters(model):
    return _rewrite(model, _all_patterns(), F.hardswish)


@wrong("functions are known by their `__name__`", "changed-too-much", clause="this-computation")
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
}


DECIDES_NOTHING = [
    (
        r"value\.graph_module\.nodes\[\]\.kwargs\.dict.*",
        "`inplace=False` is said again where it is the default",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
