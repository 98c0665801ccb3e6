"""Answers for `add_to_mul`."""

from __future__ import annotations

import operator

import torch
from torch import fx

from tests.exercises import right, wrong

ADDS = (operator.add, torch.add)


def has_no_alpha(kwargs):
    alpha = kwargs.get("alpha", 1)
    return not isinstance(alpha, (fx.Node, fx.Proxy)) and alpha == 1


def without_alpha(kwargs):
    return {key: value for key, value in kwargs.items() if key != "alpha"}


def is_addition(node):
    if node.kwargs.get("alpha", 1) != 1:
        return False
    if node.op == "call_method":
        return node.target == "add"
    return node.op == "call_function" and node.target in ADDS


@right("targets edited in place")
def in_place(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_addition(node):
            node.target = "mul" if node.op == "call_method" else torch.mul
            node.kwargs = without_alpha(node.kwargs)
    gm.recompile()
    return gm


@right("everything becomes operator.mul")
def operators(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if is_addition(node):
            values = [*node.args, *(node.kwargs[k] for k in ("input", "other") if k in node.kwargs)]
            with gm.graph.inserting_after(node):
                product = gm.graph.call_function(operator.mul, tuple(values))
            node.replace_all_uses_with(product)
            gm.graph.erase_node(node)
    gm.graph.lint()
    gm.recompile()
    return gm


@right("operands exchanged")
def exchanged(model):
    gm = fx.symbolic_trace(model)
    for node in list(gm.graph.nodes):
        if not is_addition(node):
            continue
        values = [*node.args, *(node.kwargs[k] for k in ("input", "other") if k in node.kwargs)]
        with gm.graph.inserting_before(node):
            product = gm.graph.call_function(torch.multiply, (values[1], values[0]))
        node.replace_all_uses_with(product)
        gm.graph.erase_node(node)
    gm.recompile()
    return gm


@right("a Transformer", debrief=True)
def transformer(model):
    class Multiply(fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target in ADDS and has_no_alpha(kwargs):
                return super().call_function(operator.mul, self.values(args, kwargs), {})
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            if target == "add" and has_no_alpha(kwargs):
                return super().call_method("mul", self.values(args, kwargs), {})
            return super().call_method(target, args, kwargs)

        @staticmethod
        def values(args, kwargs):
            return (*args, *(kwargs[k] for k in ("input", "other") if k in kwargs))

    return Multiply(fx.symbolic_trace(model)).transform()


@right("a new graph with Proxies")
def proxies(model):
    gm = fx.symbolic_trace(model)
    graph, env = fx.Graph(), {}
    tracer = fx.proxy.GraphAppendingTracer(graph)

    def proxy(value):
        return fx.Proxy(env[value], tracer) if isinstance(value, fx.Node) else value

    for node in gm.graph.nodes:
        if is_addition(node):
            a, b = map(proxy, [*node.args, *without_alpha(node.kwargs).values()])
            env[node] = (a * b).node
        else:
            env[node] = graph.node_copy(node, env.__getitem__)
    return fx.GraphModule(gm, graph)


@right("a Tracer that records products")
def tracer(model):
    class Products(fx.Tracer):
        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            if kwargs.get("alpha", 1) == 1:
                if kind == "call_function" and target in ADDS:
                    target, kwargs = torch.mul, without_alpha(kwargs)
                elif kind == "call_method" and target == "add":
                    target, kwargs = "mul", without_alpha(kwargs)
            return super().create_node(kind, target, args, kwargs, name, type_expr)

    products = Products()
    graph = products.trace(model)
    return fx.GraphModule(products.root, graph)


@right("opcodes edited in place")
def opcodes(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_addition(node):
            if node.op == "call_method":
                node.op = "call_function"
            node.target = torch.mul
            node.kwargs = without_alpha(node.kwargs)
    gm.recompile()
    return gm


# ------------------------------------------------------------------ wrong


def edit(model, wanted):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if wanted(node):
            node.target = "mul" if node.op == "call_method" else operator.mul
            if node.op == "call_function" and node.kwargs.get("input") is not None:
                node.target = torch.mul
            node.kwargs = without_alpha(node.kwargs)
    gm.recompile()
    return gm


@wrong("methods forgotten", "missed-spelling", clause="method")
def no_methods(model):
    return edit(model, lambda n: is_addition(n) and n.op == "call_function")


@wrong("numbers on the left forgotten", "missed-spelling", clause="operator")
def no_reflected(model):
    return edit(
        model, lambda n: is_addition(n) and not (n.args and isinstance(n.args[0], (int, float)))
    )


@wrong("an alpha of 1 keeps the addition", "missed-spelling", clause="alpha-one")
def alpha_one_kept(model):
    return edit(model, lambda n: is_addition(n) and "alpha" not in n.kwargs)


@wrong("an alpha of 1.0 keeps the addition", "missed-spelling", clause="alpha-float")
def float_one_kept(model):
    return edit(model, lambda n: is_addition(n) and type(n.kwargs.get("alpha", 1)) is int)


@wrong("an alpha that is computed counts as 1", "changed-too-much", clause="alpha-node")
def computed_alpha(model):
    def wanted(node):
        adds = node.target in ADDS or (node.op == "call_method" and node.target == "add")
        alpha = node.kwargs.get("alpha", 1)
        return adds and (isinstance(alpha, fx.Node) or alpha == 1)

    return edit(model, wanted)


@wrong("alpha ignored", "changed-too-much", clause="other-alpha")
def alpha_ignored(model):
    def wanted(node):
        return (node.op == "call_function" and node.target in ADDS) or (
            node.op == "call_method" and node.target == "add"
        )

    return edit(model, wanted)


@wrong("alpha reaches mul", "result-raises", clause="alpha-gone")
def alpha_kept(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_addition(node):
            node.target = "mul" if node.op == "call_method" else torch.mul
    gm.recompile()
    return gm


@wrong("in-place methods too", "changed-too-much", clause="in-place")
def in_place_methods(model):
    return edit(model, lambda n: is_addition(n) or (n.op == "call_method" and n.target == "add_"))


@wrong("in-place operators too", "changed-too-much", clause="iadd")
def in_place_operators(model):
    return edit(model, lambda n: is_addition(n) or n.target is operator.iadd)


@wrong("found by the name of the function", "wrong-result", clause="rest")
def by_exact_name(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        named = getattr(node.target, "__name__", node.target) == "add"
        if node.op in ("call_function", "call_method") and named and has_no_alpha(node.kwargs):
            node.target = "mul" if node.op == "call_method" else torch.mul
            node.kwargs = without_alpha(node.kwargs)
    gm.recompile()
    return gm


@wrong("the result put into the model's mode", "caller-changed", clause="common.caller-modes")
def model_mode(model):
    return in_place(model).train(model.training)


@wrong("a graph module edited in place", "caller-changed", clause="common.fresh-trace")
def edits_the_caller(model):
    gm = model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_addition(node):
            node.target = "mul" if node.op == "call_method" else torch.mul
            node.kwargs = without_alpha(node.kwargs)
    gm.recompile()
    return gm


@wrong("one product for equal sums", "wrong-result", clause="two-values")
def one_for_equal(model):
    gm, made = in_place(model), {}
    for node in list(gm.graph.nodes):
        if node.target is torch.mul:
            first = made.setdefault((node.args, tuple(node.kwargs.items())), node)
            if first is not node:
                node.replace_all_uses_with(first)
                gm.graph.erase_node(node)
    gm.recompile()
    return gm


@wrong("a sum becomes a method of what stands on its left", "crashed", clause="keyword")
def method_of_the_left(model):
    gm = in_place(model)
    for node in gm.graph.nodes:
        if node.target is torch.mul and isinstance(node.args[0], fx.Node):
            node.op, node.target = "call_method", "__mul__"
    gm.recompile()
    return gm


@wrong("a tensor made of a number", "raw-tensor", clause="common.no-raw-tensor")
def raw_tensor(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_addition(node):
            node.target = "mul" if node.op == "call_method" else torch.mul
            node.kwargs = without_alpha(node.kwargs)
            node.args = tuple(
                torch.tensor(a) if isinstance(a, (int, float)) else a for a in node.args
            )
    gm.recompile()
    return gm


@wrong("recompile forgotten", "stale-code", clause="common.recompiled")
def stale(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if is_addition(node):
            node.target = "mul" if node.op == "call_method" else torch.mul
            node.kwargs = without_alpha(node.kwargs)
    return gm


@wrong("the target compared without the opcode", "lost-signature", clause="rest")
def any_opcode(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op == "call_module":
            continue
        if node.kwargs.get("alpha", 1) == 1 and node.target in (*ADDS, "add"):
            node.target = torch.mul if callable(node.target) else "mul"
            node.kwargs = without_alpha(node.kwargs)
    gm.recompile()
    return gm


BEYOND = {
    "in-place operators too": (
        "retracing, which is allowed, makes a plain addition of `iadd`; so no model has it"
    ),
    "one product for equal sums": (
        "two sums of the same values are needed, of which one is then changed in place"
    ),
}
