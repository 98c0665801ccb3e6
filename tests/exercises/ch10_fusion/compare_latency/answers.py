"""Answers to `compare_latency`."""

from __future__ import annotations

import statistics
import time
import timeit
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tests.exercises import right, wrong


@right("two lists")
def two_lists(a, b, inputs, repeats=20):
    first, second = [], []
    with torch.no_grad():
        a(*inputs)
        b(*inputs)
        for _ in range(repeats):
            start = time.perf_counter()
            a(*inputs)
            middle = time.perf_counter()
            b(*inputs)
            first.append(middle - start)
            second.append(time.perf_counter() - middle)
    return statistics.median(first), statistics.median(second)


@right("rounds in an array, more warm-up", debrief=True)
def rounds(a, b, inputs, repeats=20):
    def seconds(f):
        start = time.perf_counter()
        f(*inputs)
        return time.perf_counter() - start

    with torch.inference_mode():
        for f in (a, b):
            for _ in range(3):
                f(*inputs)
        table = torch.tensor([[seconds(a), seconds(b)] for _ in range(repeats)])
    return tuple(table.double().quantile(0.5, dim=0).tolist())


@right("PyTorch's median, the lower one of two")
def lower_median(a, b, inputs, repeats=20):
    found = {}
    with torch.no_grad():
        for number in range(repeats + 1):
            for name, f in (("a", a), ("b", b)):
                start = time.perf_counter_ns()
                f(*inputs)
                if number:
                    found.setdefault(name, []).append((time.perf_counter_ns() - start) / 1e9)
    return tuple(torch.tensor(found[name]).median().item() for name in "ab")


@torch.no_grad()
def _measure(functions, inputs, rounds):
    found = {f: [] for f in functions}
    for number in range(rounds + 1):
        # In every second round, the other one begins.
        for f in functions[:: -1 if number % 2 else 1]:
            start = time.monotonic_ns()
            f(*inputs)
            found[f].append(time.monotonic_ns() - start)
    return found


@right("the first round is dropped, and the order alternates")
def first_round_dropped(a, b, inputs, repeats=20):
    found = _measure([a, b], inputs, repeats)
    ordered = [sorted(found[f][1:]) for f in (a, b)]
    half = repeats // 2
    return tuple((o[half] + o[-half - 1]) / 2 / 1e9 for o in ordered)


@right("timeit, one call at a time")
def with_timeit(a, b, inputs, repeats=20):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        timers = [timeit.Timer(lambda f=f: f(*inputs)) for f in (a, b)]
        for timer in timers:
            timer.timeit(number=2)
        rows = [[timer.timeit(number=1) for timer in timers] for _ in range(repeats)]
    finally:
        torch.set_grad_enabled(before)
    return (
        statistics.median(row[0] for row in rows),
        statistics.median(row[1] for row in rows),
    )


# ------------------------------------------------------------------ wrong


@dataclass
class Compare:
    """A right measurement; each argument makes it wrong in one way."""

    clock: Any = time.perf_counter
    mode: Any = torch.no_grad
    warm: tuple[bool, bool] = (True, True)
    warm_measured: bool = False
    center: Any = statistics.median
    in_turn: bool = True
    call: Any = staticmethod(lambda f, inputs: f(*inputs))
    repeats: int | None = None

    def __call__(self, a, b, inputs, repeats=20):
        repeats = repeats if self.repeats is None else self.repeats
        times = [[], []]

        def measure(i):
            start = self.clock()
            self.call((a, b)[i], inputs)
            times[i].append(self.clock() - start)

        with self.mode():
            for i in (0, 1):
                if self.warm_measured:
                    measure(i)
                elif self.warm[i]:
                    self.call((a, b)[i], inputs)
            order = [0, 1] * repeats if self.in_turn else [0] * repeats + [1] * repeats
            for i in order:
                measure(i)
        return self.center(times[0]), self.center(times[1])


@wrong("a list", "wrong-kind", clause="tuple")
def a_list(a, b, inputs, repeats=20):
    return list(Compare()(a, b, inputs, repeats))


@wrong("the mean", "wrong-time", clause="median")
def the_mean(a, b, inputs, repeats=20):
    return Compare(center=statistics.mean)(a, b, inputs, repeats)


@wrong("milliseconds", "wrong-time", clause="seconds")
def milliseconds(a, b, inputs, repeats=20):
    return Compare(clock=lambda: 1000 * time.perf_counter())(a, b, inputs, repeats)


@wrong("processor time", "wrong-time", clause="wall")
def processor_time(a, b, inputs, repeats=20):
    return Compare(clock=time.process_time)(a, b, inputs, repeats)


@wrong("the second one first", "wrong-time", clause="order")
def exchanged(a, b, inputs, repeats=20):
    return Compare()(a, b, inputs, repeats)[::-1]


@wrong("one after the other", "not-in-turn", clause="in-turn")
def one_after_the_other(a, b, inputs, repeats=20):
    return Compare(in_turn=False)(a, b, inputs, repeats)


@wrong("no warm-up", "too-few-calls", clause="warm-up")
def no_warm_up(a, b, inputs, repeats=20):
    return Compare(warm=(False, False))(a, b, inputs, repeats)


@wrong("only the first is warmed up", "too-few-calls", clause="warm-up-of-each")
def first_warmed(a, b, inputs, repeats=20):
    return Compare(warm=(True, False))(a, b, inputs, repeats)


@wrong("the first call is measured, too", "wrong-time", clause="warm-up-not-measured")
def warm_measured(a, b, inputs, repeats=20):
    return Compare(warm_measured=True)(a, b, inputs, repeats)


@wrong("always twenty calls", "wrong-time", clause="repeats")
def always_twenty(a, b, inputs, repeats=20):
    return Compare(repeats=20)(a, b, inputs)


@wrong("ten by default", "too-few-calls", clause="default")
def ten_by_default(a, b, inputs, repeats=10):
    return Compare()(a, b, inputs, repeats)


@wrong("with gradients", "with-gradients", clause="no-gradients")
def with_gradients(a, b, inputs, repeats=20):
    return Compare(mode=lambda: torch.set_grad_enabled(torch.is_grad_enabled()))(
        a, b, inputs, repeats
    )


@wrong("gradients stay off", "mode-left", clause="mode-as-before")
def stays_off(a, b, inputs, repeats=20):
    torch.set_grad_enabled(False)
    return Compare()(a, b, inputs, repeats)


@wrong("an exception leaves them off", "mode-left", clause="mode-after-exception")
def off_after_an_exception(a, b, inputs, repeats=20):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    result = Compare()(a, b, inputs, repeats)
    torch.set_grad_enabled(before)
    return result


@wrong("exceptions are swallowed", "should-raise", clause="exceptions")
def swallows(a, b, inputs, repeats=20):
    try:
        return Compare()(a, b, inputs, repeats)
    except Exception:
        return 0.0, 0.0


@wrong("the inputs as one argument", "wrong-inputs", clause="inputs")
def one_argument(a, b, inputs, repeats=20):
    def call(f, inputs):
        return f(*inputs) if isinstance(f, nn.Module) else f(inputs)

    return Compare(call=call)(a, b, inputs, repeats)


@wrong("modules only", "crashed", clause="functions")
def modules_only(a, b, inputs, repeats=20):
    return Compare(call=lambda f, inputs: f.forward(*inputs))(a, b, inputs, repeats)


@wrong("modules are put into eval mode", "caller-changed", clause="modules")
def eval_mode(a, b, inputs, repeats=20):
    for f in (a, b):
        if isinstance(f, nn.Module):
            f.eval()
    return Compare()(a, b, inputs, repeats)


DECIDES_NOTHING = [
    (
        r"runs\[\]\.forward\.(args|log).*",
        "what it is told is the course's own; of calls that warm up only the number counts",
    ),
]
"""Places in an outcome that decide no points, and why."""
