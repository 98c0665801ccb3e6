"""Answers for `AddToMul`."""

from __future__ import annotations

import copy
import operator

import torch
from torch import fx

from tests.exercises import right, wrong

FUNCTIONS = {torch.add: torch.mul, operator.add: operator.mul}


def one(kwargs):
    """Whether `alpha` is known to be 1; the value of a Proxy is not known."""
    alpha = kwargs.get("alpha", 1)
    return not isinstance(alpha, fx.Proxy) and alpha == 1


def plain(kwargs):
    return {key: value for key, value in kwargs.items() if key != "alpha"}


class Swap(fx.Transformer):
    """Replaces additions correctly; subclasses copy the `meta`."""

    functions = FUNCTIONS

    def call_function(self, target, args, kwargs):
        if target in self.functions and one(kwargs):
            return super().call_function(self.functions[target], args, plain(kwargs))
        return super().call_function(target, args, kwargs)

    def call_method(self, target, args, kwargs):
        if target == "add" and one(kwargs):
            return super().call_method("mul", args, plain(kwargs))
        return super().call_method(target, args, kwargs)


@right("meta copied in run_node, except for the output")
class Standard(Swap):
    def run_node(self, n):
        result = super().run_node(n)
        if n.op != "output":
            result.node.meta.update(n.meta)
        return result


@right("meta copied in transform, from the environment")
class InTransform(Swap):
    def __init__(self, module):
        super().__init__(module)
        self.garbage_collect_values = False

    def transform(self):
        result = super().transform()
        for old, proxy in self.env.items():
            if old.op != "output":
                proxy.node.meta = dict(old.meta)
        return result


@right("every handler notes the current node")
class CurrentNode(Swap):
    def run_node(self, n):
        before = len(self.new_graph.nodes)
        result = super().run_node(n)
        for new in list(self.new_graph.nodes)[before:]:
            new.meta = copy.copy(n.meta)
        return result


@right("operations called on Proxies")
class OnProxies(fx.Transformer):
    def call_function(self, target, args, kwargs):
        if target is operator.add:
            return args[0] * args[1]
        if target is torch.add and one(kwargs):
            names = dict(zip(("input", "other"), args, strict=False)) | plain(kwargs)
            return torch.mul(names["input"], names["other"])
        return super().call_function(target, args, kwargs)

    def call_method(self, target, args, kwargs):
        if target == "add" and one(kwargs):
            return args[0].mul(*args[1:], **plain(kwargs))
        return super().call_method(target, args, kwargs)

    def run_node(self, n):
        result = super().run_node(n)
        if n.op == "output":
            return result
        for key, value in n.meta.items():
            result.node.meta.setdefault(key, value)
            result.node.meta[key] = value
        return result


@right("nodes of both graphs side by side", debrief=True)
class SideBySide(Swap):
    def transform(self):
        result = super().transform()
        for old, new in zip(self.module.graph.nodes, result.graph.nodes, strict=True):
            new.meta.update(old.meta)
        return result


@right("transform without an interpreter")
class WithoutRunning(fx.Transformer):
    def transform(self):
        graph, env = fx.Graph(), {}
        for node in self.module.graph.nodes:
            env[node] = new = graph.node_copy(node, env.__getitem__)
            if new.kwargs.get("alpha", 1) != 1:
                continue
            if new.op == "call_function" and new.target in FUNCTIONS:
                new.target, new.kwargs = FUNCTIONS[new.target], plain(new.kwargs)
            elif new.op == "call_method" and new.target == "add":
                new.target, new.kwargs = "mul", plain(new.kwargs)
        return fx.GraphModule(self.module, graph)


# ------------------------------------------------------------------ wrong


@wrong("one dictionary for both nodes", "caller-changed", clause="meta-own")
class SharedMeta(Swap):
    def run_node(self, n):
        result = super().run_node(n)
        if n.op != "output":
            result.node.meta = n.meta
        return result


@wrong("the output's meta on the last value", "meta-wrong", clause="meta")
class OutputToo(Swap):
    def run_node(self, n):
        result = super().run_node(n)
        if isinstance(result, fx.Proxy):
            result.node.meta.update(n.meta)
        return result


@wrong("placeholders lose theirs", "meta-lost", clause="meta-placeholders")
class NoPlaceholders(Swap):
    def run_node(self, n):
        result = super().run_node(n)
        if n.op not in ("placeholder", "output"):
            result.node.meta.update(n.meta)
        return result


@wrong("one key only", "meta-lost", clause="meta-keys")
class OneKey(Swap):
    def run_node(self, n):
        result = super().run_node(n)
        if n.op != "output" and "mark" in n.meta:
            result.node.meta["mark"] = n.meta["mark"]
        return result


@wrong("torch.add only", "missed-spelling", clause="functions")
class FunctionOnly(Standard):
    functions = {torch.add: torch.mul}


@wrong("no methods", "missed-spelling", clause="methods")
class NoMethods(Standard):
    def call_method(self, target, args, kwargs):
        return fx.Transformer.call_method(self, target, args, kwargs)


@wrong("alpha is handed on", "result-raises", clause="alpha-gone")
class KeepsAlpha(Standard):
    def call_function(self, target, args, kwargs):
        if target in self.functions and one(kwargs):
            return fx.Transformer.call_function(self, self.functions[target], args, kwargs)
        return fx.Transformer.call_function(self, target, args, kwargs)


@wrong("alpha is dropped", "changed-too-much", clause="alpha")
class DropsAlpha(Standard):
    def call_function(self, target, args, kwargs):
        target = self.functions.get(target, target)
        if target is torch.mul:
            kwargs = plain(kwargs)
        return fx.Transformer.call_function(self, target, args, kwargs)


@wrong("an alpha that is computed counts as 1", "changed-too-much", clause="alpha-node")
class ComputedAlpha(Standard):
    def call_function(self, target, args, kwargs):
        if target is torch.add and isinstance(kwargs.get("alpha"), fx.Proxy):
            return fx.Transformer.call_function(self, torch.mul, args, plain(kwargs))
        return super().call_function(target, args, kwargs)


@wrong("an alpha of 1.0 keeps the addition", "missed-spelling", clause="alpha-float")
class FloatOne(Standard):
    def call_function(self, target, args, kwargs):
        if target is torch.add and type(kwargs.get("alpha", 1)) is float:
            return fx.Transformer.call_function(self, target, args, kwargs)
        return super().call_function(target, args, kwargs)


@wrong("every alpha keeps the addition", "missed-spelling", clause="alpha-one")
class AnyAlpha(Standard):
    def call_function(self, target, args, kwargs):
        if "alpha" in kwargs:
            return fx.Transformer.call_function(self, target, args, kwargs)
        return super().call_function(target, args, kwargs)


@wrong("a transform of its own loses the output's meta", "meta-lost", clause="meta-output")
class WithoutOutputsMeta(WithoutRunning):
    def transform(self):
        result = super().transform()
        result.graph.output_node().meta.clear()
        return result


@wrong("in-place methods, too", "changed-too-much", clause="in-place")
class InPlace(Standard):
    def call_method(self, target, args, kwargs):
        if target == "add_":
            return super().call_method("mul_", args, kwargs)
        return super().call_method(target, args, kwargs)


@wrong("found by the name of the function", "wrong-result", clause="rest")
class ByNameOfFunction(Standard):
    def call_function(self, target, args, kwargs):
        if target.__name__ == "add" and one(kwargs):
            target, kwargs = FUNCTIONS.get(target, operator.mul), plain(kwargs)
        return fx.Transformer.call_function(self, target, args, kwargs)


@wrong("iadd, too", "wrong-result", clause="iadd")
class InPlaceOperator(Standard):
    functions = {**FUNCTIONS, operator.iadd: operator.mul}


@wrong("keyword arguments lost", "result-raises", clause="keyword")
class LosesKeywords(Standard):
    def call_function(self, target, args, kwargs):
        return super().call_function(target, args, {})


@wrong("the given module is edited", "caller-changed", clause="common.caller-graph")
class EditsTheModule(fx.Transformer):
    def transform(self):
        for node in self.module.graph.nodes:
            if node.target in FUNCTIONS:
                node.target = FUNCTIONS[node.target]
        self.module.recompile()
        return self.module


BEYOND = {
    "found by the name of the function": (
        "random models have no function of their own called `add`"
    ),
    "iadd, too": (
        "a `Transformer`, which is asked for, makes a plain addition of `iadd`; so no model has it"
    ),
}


TYPOS_ARE_RECORDED = "its answers call methods of a Proxy, which fail when the graph runs"
