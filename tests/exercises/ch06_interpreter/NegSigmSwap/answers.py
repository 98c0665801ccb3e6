"""Answers for `NegSigmSwap`."""

from __future__ import annotations

import copy

import torch
from torch import fx

from tests.exercises import right, wrong


@right("a table for each handler")
class NegSigmSwap(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        table = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}
        return super().call_function(table.get(target, target), args, kwargs)

    def call_method(self, target, args, kwargs):
        table = {"neg": "sigmoid", "sigmoid": "neg"}
        return super().call_method(table.get(target, target), args, kwargs)


@right("the operations called directly")
class Direct(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        if target is torch.sigmoid:
            return torch.neg(*args, **kwargs)
        elif target is torch.neg:
            return torch.sigmoid(*args, **kwargs)
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        this, *rest = args
        if target == "neg":
            return this.sigmoid(*rest, **kwargs)
        if target == "sigmoid":
            return this.neg(*rest, **kwargs)
        return getattr(this, target)(*rest, **kwargs)


@right("nodes examined in run_node", debrief=True)
class InRunNode(fx.Interpreter):
    def run_node(self, n):
        other = {
            ("call_function", torch.neg): torch.sigmoid,
            ("call_function", torch.sigmoid): torch.neg,
            ("call_method", "neg"): "sigmoid",
            ("call_method", "sigmoid"): "neg",
        }.get((n.op, n.target))
        if other is None:
            return super().run_node(n)
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(other, args, kwargs)


@right("a copy of the module, edited before it runs")
class EditsACopy(fx.Interpreter):
    def __init__(self, module, *args, **kwargs):
        module = copy.deepcopy(module)
        pairs = [(torch.neg, torch.sigmoid), ("neg", "sigmoid")]
        table = dict(pairs) | {b: a for a, b in pairs}
        for node in module.graph.nodes:
            if node.op in ("call_function", "call_method"):
                node.target = table.get(node.target, node.target)
        super().__init__(module, *args, **kwargs)


class Base(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        if target in (torch.neg, torch.sigmoid):
            target = torch.neg if target is torch.sigmoid else torch.sigmoid
        return fx.Interpreter.call_function(self, target, args, kwargs)


@right("a subclass of a subclass")
class Derived(Base):
    def call_method(self, target, args, kwargs):
        if target in ("neg", "sigmoid"):
            target = "neg" if target == "sigmoid" else "sigmoid"
        return super().call_method(target, args, kwargs)


@wrong("super() without return", "returned-none", clause="rest")
class NoReturn(NegSigmSwap):
    def call_method(self, target, args, kwargs):
        super().call_method(target, args, kwargs)


@wrong("one direction only", "wrong-result", clause="both-ways")
class OneDirection(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        target = torch.neg if target is torch.sigmoid else target
        return super().call_function(target, args, kwargs)

    def call_method(self, target, args, kwargs):
        return super().call_method("sigmoid" if target == "neg" else target, args, kwargs)


@wrong("functions only", "wrong-result", clause="methods")
class FunctionsOnly(Base):
    pass


@wrong("methods only", "wrong-result", clause="functions")
class MethodsOnly(fx.Interpreter):
    def call_method(self, target, args, kwargs):
        table = {"neg": "sigmoid", "sigmoid": "neg"}
        return super().call_method(table.get(target, target), args, kwargs)


@wrong("only the first positional argument", "result-raises", clause="common.keyword-calls")
class FirstArgument(NegSigmSwap):
    def call_function(self, target, args, kwargs):
        if target is torch.neg:
            return torch.sigmoid(args[0])
        if target is torch.sigmoid:
            return torch.neg(args[0])
        return super().call_function(target, args, kwargs)


@wrong("Sigmoid modules are swapped, too", "wrong-result", clause="rest")
class SwapsModules(NegSigmSwap):
    def call_module(self, target, args, kwargs):
        if isinstance(self.fetch_attr(target), torch.nn.Sigmoid):
            return torch.neg(*args)
        return super().call_module(target, args, kwargs)


@wrong("any function that is called neg or sigmoid", "wrong-result", clause="rest")
class ByExactName(NegSigmSwap):
    def call_function(self, target, args, kwargs):
        table = {"neg": torch.sigmoid, "sigmoid": torch.neg}
        target = table.get(target.__name__, target)
        return fx.Interpreter.call_function(self, target, args, kwargs)


@wrong("the graph of the given module is edited", "caller-changed", clause="common.caller-graph")
class EditsTheGraph(fx.Interpreter):
    def __init__(self, module):
        table = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}
        table |= {"neg": "sigmoid", "sigmoid": "neg"}
        for node in module.graph.nodes:
            node.target = table.get(node.target, node.target)
        super().__init__(module)


@wrong("put back only where the run does not raise", "caller-changed", clause="common.caller-graph")
class PutBackTooLate(fx.Interpreter):
    def run(self, *args, **kwargs):
        self.exchange()
        result = super().run(*args, **kwargs)
        self.exchange()
        return result

    def exchange(self):
        table = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}
        table |= {"neg": "sigmoid", "sigmoid": "neg"}
        for node in self.module.graph.nodes:
            node.target = table.get(node.target, node.target)


@wrong("another base class", "wrong-kind", clause="class")
class NoInterpreter:
    def __init__(self, module):
        self.inner = NegSigmSwap(module)

    def run(self, *args):
        return self.inner.run(*args)


BEYOND = {
    "put back only where the run does not raise": "no run of a random model raises",
    "any function that is called neg or sigmoid": "random models call PyTorch's functions only",
}
