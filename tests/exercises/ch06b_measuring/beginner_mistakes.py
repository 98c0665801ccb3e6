"""Beginners' mistakes in chapter 06b."""

from __future__ import annotations

import time

from torch import fx, nn

from tests.exercises.mistakes import UNSTICKS, mistake


class _Timed(fx.Interpreter):
    def slowest(self, n):
        return sorted(self.seconds, key=self.seconds.__getitem__, reverse=True)[:n]


@mistake("OpTimer", "dictionaries of the class", UNSTICKS)
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


@mistake("OpTimer", "no return in run_node", UNSTICKS)
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


@mistake("OpTimer", "super is not initialised", UNSTICKS)
class NoInit(_Timed):
    def __init__(self, module):
        self.seconds, self.calls = {}, {}

    def run_node(self, n):
        return super().run_node(n)


@mistake("count_flops", "one operation for a multiply-add", UNSTICKS)
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
