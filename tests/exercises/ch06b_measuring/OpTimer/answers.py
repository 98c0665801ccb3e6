"""Answers for `OpTimer`."""

from __future__ import annotations

import heapq
import time
from collections import Counter, defaultdict

from torch import fx

from tests.exercises import right, wrong


@right("run_node, plain dictionaries")
class Plain(fx.Interpreter):
    def __init__(self, module):
        super().__init__(module)
        self.seconds, self.calls = {}, {}

    def run_node(self, n):
        if n.op in ("placeholder", "get_attr", "output"):
            return super().run_node(n)
        start = time.perf_counter()
        value = super().run_node(n)
        self.note(n.name, time.perf_counter() - start)
        return value

    def note(self, name, spent):
        self.seconds[name] = self.seconds.get(name, 0.0) + spent
        self.calls[name] = self.calls.get(name, 0) + 1

    def slowest(self, n):
        return sorted(self.seconds, key=self.seconds.get, reverse=True)[:n]


@right("every kind of node, counters, most_common")
class EveryNode(fx.Interpreter):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seconds, self.calls = Counter(), Counter()

    def run_node(self, n):
        begin = time.monotonic()
        result = super().run_node(n)
        self.seconds[n.name] += time.monotonic() - begin
        self.calls[n.name] += 1
        return result

    def slowest(self, n):
        return [name for name, _ in self.seconds.most_common(n)]


@right("zero for every call from the beginning")
class FromZero(fx.Interpreter):
    def __init__(self, module):
        super().__init__(module)
        names = [n.name for n in self.graph.nodes if n.op.startswith("call_")]
        self.seconds, self.calls = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0)

    def run_node(self, n):
        begin = time.monotonic()
        result = super().run_node(n)
        if n.name in self.calls:
            self.seconds[n.name] += time.monotonic() - begin
            self.calls[n.name] += 1
        return result

    def slowest(self, n):
        return heapq.nlargest(n, self.seconds, key=self.seconds.__getitem__)


@right("three handlers and the current node", debrief=True)
class Handlers(fx.Interpreter):
    def __init__(self, module):
        super().__init__(module)
        self.seconds, self.calls = defaultdict(float), defaultdict(int)

    def run_node(self, n):
        self.current = n.name
        return super().run_node(n)

    def timed(self, handler, *rest):
        start = time.perf_counter_ns()
        value = handler(*rest)
        self.seconds[self.current] += (time.perf_counter_ns() - start) / 1e9
        self.calls[self.current] += 1
        return value

    def call_function(self, *rest):
        return self.timed(super().call_function, *rest)

    def call_method(self, *rest):
        return self.timed(super().call_method, *rest)

    def call_module(self, *rest):
        return self.timed(super().call_module, *rest)

    def slowest(self, n):
        return [k for k, _ in sorted(self.seconds.items(), key=lambda kv: -kv[1])][:n]


@right("a list of measurements, summed on demand")
class Measurements(fx.Interpreter):
    def __init__(self, module):
        super().__init__(module)
        self.notes = []

    def run_node(self, n):
        start = time.time()
        value = super().run_node(n)
        if n.op.startswith("call"):
            self.notes.append((n.name, max(0.0, time.time() - start)))
        return value

    @property
    def seconds(self):
        total = {}
        for name, spent in self.notes:
            total[name] = total.get(name, 0.0) + spent
        return total

    @property
    def calls(self):
        return Counter(name for name, _ in self.notes)

    def slowest(self, n):
        seconds = self.seconds
        ordered = sorted(seconds, key=lambda name: (-seconds[name], name))
        return ordered[: max(n, 0)]


# ------------------------------------------------------------------ wrong


class ByClock(fx.Interpreter):
    clock = staticmethod(time.perf_counter)

    def __init__(self, module):
        super().__init__(module)
        self.seconds, self.calls = {}, {}

    def run_node(self, n):
        start = self.clock()
        value = super().run_node(n)
        if n.op.startswith("call_"):
            spent = self.clock() - start
            self.seconds[n.name] = self.seconds.get(n.name, 0.0) + spent
            self.calls[n.name] = self.calls.get(n.name, 0) + 1
        return value

    def slowest(self, n):
        return sorted(self.seconds, key=self.seconds.__getitem__, reverse=True)[:n]


right("one clock, read twice")(ByClock)


@wrong("processor time, of the process", "wrong-time", clause="time-spent")
class ProcessTime(ByClock):
    clock = staticmethod(time.process_time)


@wrong("modules are left out", "missing-node", clause="all-calls")
class NoModules(Plain):
    def run_node(self, n):
        if n.op == "call_module":
            return fx.Interpreter.run_node(self, n)
        return super().run_node(n)


@wrong("a call that gives None is left out", "missing-node", clause="all-calls")
class NoNone(Plain):
    def run_node(self, n):
        start = time.perf_counter()
        value = fx.Interpreter.run_node(self, n)
        if n.op.startswith("call") and value is not None:
            self.note(n.name, time.perf_counter() - start)
        return value


@wrong("targets as keys", "extra-key", clause="seconds")
class ByTarget(Plain):
    def run_node(self, n):
        start = time.perf_counter()
        value = fx.Interpreter.run_node(self, n)
        if n.op.startswith("call"):
            self.note(getattr(n.target, "__name__", n.target), time.perf_counter() - start)
        return value


@wrong("the last run only", "wrong-count", clause="summed")
class LastRun(Plain):
    def run(self, *args, **kwargs):
        self.seconds, self.calls = {}, {}
        return super().run(*args, **kwargs)


@wrong("time since the run began", "wrong-time", clause="seconds")
class SinceTheBeginning(Plain):
    def run(self, *args, **kwargs):
        self.began = time.perf_counter()
        return super().run(*args, **kwargs)

    def run_node(self, n):
        value = fx.Interpreter.run_node(self, n)
        if n.op.startswith("call"):
            self.note(n.name, time.perf_counter() - self.began)
        return value


@wrong("counts what raises", "counted-error", clause="raises")
class CountsErrors(Plain):
    def run_node(self, n):
        start = time.perf_counter()
        try:
            return fx.Interpreter.run_node(self, n)
        finally:
            if n.op.startswith("call"):
                self.note(n.name, time.perf_counter() - start)


@wrong("a run that ends with an error leaves no notes", "wrong-count", clause="calls")
class WholeRunsOnly(Plain):
    def run(self, *args, **kwargs):
        saved = dict(self.seconds), dict(self.calls)
        try:
            return super().run(*args, **kwargs)
        except Exception:
            self.seconds, self.calls = saved
            raise


@wrong("swallows the error", "should-raise", clause="error")
class Swallows(Plain):
    def run(self, *args, **kwargs):
        try:
            return super().run(*args, **kwargs)
        except Exception:
            return None


@wrong("the result is lost", "returned-none", clause="result")
class LosesTheResult(Plain):
    def run(self, *args, **kwargs):
        super().run(*args, **kwargs)


@wrong("one dictionary for all timers", "leaks-state", clause="own")
class SharedByAll(Plain):
    common_seconds: dict = {}
    common_calls: dict = {}

    def __init__(self, module):
        super().__init__(module)
        key = id(module)
        self.seconds = self.common_seconds.setdefault(key, {})
        self.calls = self.common_calls.setdefault(key, {})


@wrong("fastest first", "wrong-order", clause="slowest")
class Ascending(Plain):
    def slowest(self, n):
        return sorted(self.seconds, key=self.seconds.get)[:n]


@wrong("by the mean time of a call", "wrong-order", clause="slowest")
class ByTheMean(Plain):
    def slowest(self, n):
        def mean(name):
            return self.seconds[name] / self.calls[name]

        return sorted(self.seconds, key=mean, reverse=True)[:n]


@wrong("all of them, whatever n is", "wrong-order", clause="how-many")
class AllOfThem(Plain):
    def slowest(self, n):
        return super().slowest(10_000)


@wrong("one name for each time", "wrong-order", clause="how-many")
class OneNameForEachTime(Plain):
    def slowest(self, n):
        names = {spent: name for name, spent in self.seconds.items()}
        return [names[spent] for spent in sorted(names, reverse=True)[:n]]


BEYOND = {
    "one name for each time": "random models have too few calls for two equal times",
    "by the mean time of a call": "operations of random models take nearly the same time",
}


RANDOM_MODELS_MAY_RAISE = "the task is about models that raise, too"


DECIDES_NOTHING = [
    (
        r"runs\[\]\.timer\.(calls|seconds|slowest).*",
        "the second timer, ranks and nodes that are no calls count in some cases only",
    ),
    (
        r"runs\[\]\.forward\.args.*",
        "what a model that raises leaves of its arguments is not asked for",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
