"""Beginners' mistakes in chapter 06."""

from __future__ import annotations

import time

import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp

from tests.panel import mistake


@mistake("NegSigmSwap", "no return")
class NoReturn(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        swapped = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}
        super().call_function(swapped.get(target, target), args, kwargs)


@mistake("NegSigmSwap", "calls itself")
class CallsItself(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        swapped = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}
        return self.call_function(swapped.get(target, target), args, kwargs)


@mistake("NegSigmSwap", "a table without the others")
class OnlyTheTwo(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        swapped = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}
        return super().call_function(swapped[target], args, kwargs)


@mistake("NegSigmSwap", "a function, not a class")
def swap(gm):
    return gm


@mistake("record_shapes", "shape of whatever comes")
def any_shape(model, *inputs):
    shapes = {}

    class Recorder(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            shapes[n.name] = value.shape
            return value

    Recorder(fx.symbolic_trace(model)).run(*inputs)
    return shapes


@mistake("record_shapes", "the nodes as keys")
def node_keys(model, *inputs):
    shapes = {}

    class Recorder(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            shapes[n] = tuple(value.shape) if isinstance(value, torch.Tensor) else None
            return value

    Recorder(fx.symbolic_trace(model)).run(*inputs)
    return shapes


@mistake("record_shapes", "the traced module is not run")
def not_run(model, *inputs):
    gm = fx.symbolic_trace(model)
    return {n.name: tuple(n.meta["tensor_meta"].shape) for n in gm.graph.nodes}


@mistake("record_shapes", "ShapeProp of the model")
def prop_of_model(model, *inputs):
    ShapeProp(model).propagate(*inputs)
    return {n.name: n.meta["tensor_meta"].shape for n in model.graph.nodes}


class _Timed(fx.Interpreter):
    def slowest(self, n):
        return sorted(self.seconds, key=self.seconds.__getitem__, reverse=True)[:n]


@mistake("OpTimer", "dictionaries of the class")
class SharedTimes(_Timed):
    seconds: dict[str, float] = {}
    calls: dict[str, int] = {}

    def run_node(self, n):
        if not n.op.startswith("call_"):
            return super().run_node(n)
        start = time.perf_counter()
        value = super().run_node(n)
        self.seconds[n.name] = self.seconds.get(n.name, 0.0) + time.perf_counter() - start
        self.calls[n.name] = self.calls.get(n.name, 0) + 1
        return value


@mistake("OpTimer", "no return in run_node")
class NoValue(_Timed):
    def __init__(self, module):
        super().__init__(module)
        self.seconds, self.calls = {}, {}

    def run_node(self, n):
        start = time.perf_counter()
        super().run_node(n)
        if n.op.startswith("call_"):
            self.seconds[n.name] = self.seconds.get(n.name, 0.0) + time.perf_counter() - start
            self.calls[n.name] = self.calls.get(n.name, 0) + 1


@mistake("OpTimer", "super is not initialised")
class NoInit(_Timed):
    def __init__(self, module):
        self.seconds, self.calls = {}, {}

    def run_node(self, n):
        return super().run_node(n)


@mistake("first_nonfinite", "any of the tensor's entries by ==")
def equals_nan(model, *inputs):
    class Finder(fx.Interpreter):
        found = None

        def run_node(self, n):
            value = super().run_node(n)
            if isinstance(value, torch.Tensor) and (value == float("nan")).any():
                self.found = self.found or n.name
            return value

    finder = Finder(fx.symbolic_trace(model))
    finder.run(*inputs)
    return finder.found


@mistake("first_nonfinite", "the last one is kept")
def last_one(model, *inputs):
    class Finder(fx.Interpreter):
        found = None

        def run_node(self, n):
            value = super().run_node(n)
            if isinstance(value, torch.Tensor) and not torch.isfinite(value).all():
                self.found = n.name
            return value

    finder = Finder(fx.symbolic_trace(model))
    finder.run(*inputs)
    return finder.found


@mistake("count_flops", "one operation for a multiply-add")
def half(model, *inputs):
    total = 0

    class Counter(fx.Interpreter):
        def call_module(self, target, args, kwargs):
            nonlocal total
            value = super().call_module(target, args, kwargs)
            module = self.fetch_attr(target)
            if isinstance(module, nn.Linear):
                total += value.numel() * module.in_features
            return value

    Counter(fx.symbolic_trace(model)).run(*inputs)
    return total


@mistake("AddToMul", "run in place of transform")
class Runs(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        return super().call_function(torch.mul if target is torch.add else target, args, kwargs)
