"""Answers to `Calibrator`."""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import fx

from tests.exercises import right, wrong


def floats(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


@right("the largest magnitude so far, by name")
class Plain(fx.Interpreter):
    def __init__(self, gm):
        super().__init__(gm)
        self.largest = {}

    def run_node(self, n):
        value = super().run_node(n)
        if n.op != "output" and self.counts(value):
            self.largest[n.name] = self.joined(self.largest.get(n.name, 0.0), self.top(value))
        return value

    def counts(self, value):
        return floats(value)

    def top(self, value):
        return value.abs().max().item() if value.numel() else 0.0

    def joined(self, old, new):
        return max(old, new)

    def scales(self):
        names = [n.name for n in self.module.graph.nodes]
        return {name: self.largest[name] / 127 or 1.0 for name in names if name in self.largest}


@right("without gradients, which no tensor's values depend on")
class WithoutGradients(Plain):
    @torch.no_grad()
    def run(self, *args, **kwargs):
        return super().run(*args, **kwargs)


@right("copies of all values, looked at in the end", debrief=True)
class Copies(fx.Interpreter):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seen = defaultdict(list)

    def run_node(self, n):
        value = super().run_node(n)
        if isinstance(value, torch.Tensor) and value.dtype.is_floating_point and n.op != "output":
            self.seen[n].append(value.detach().clone().reshape(-1))
        return value

    def scales(self):
        found = {}
        for node in self.graph.nodes:
            if node in self.seen:
                everything = torch.cat(self.seen[node])
                top = (
                    float(torch.linalg.vector_norm(everything, float("inf")))
                    if len(everything)
                    else 0
                )
                found[node.name] = top / 127 if top else 1.0
        return found


@right("minimum and maximum, by handlers of their own")
class LowAndHigh(fx.Interpreter):
    def __init__(self, module, garbage_collect_values=True):
        super().__init__(module, garbage_collect_values)
        self.low, self.high = {}, {}

    def run(self, *args, **kwargs):
        self.nodes = iter(self.module.graph.nodes)
        return super().run(*args, **kwargs)

    def seen(self, value):
        node = next(self.nodes)
        if floats(value):
            low, high = 0.0, 0.0
            if value.numel():
                low, high = (each.item() for each in torch.aminmax(value.detach()))
            self.low[node] = min(low, self.low.get(node, 0.0))
            self.high[node] = max(high, self.high.get(node, 0.0))
        return value

    def placeholder(self, *rest):
        return self.seen(super().placeholder(*rest))

    def get_attr(self, *rest):
        return self.seen(super().get_attr(*rest))

    def call_function(self, *rest):
        return self.seen(super().call_function(*rest))

    def call_method(self, *rest):
        return self.seen(super().call_method(*rest))

    def call_module(self, *rest):
        return self.seen(super().call_module(*rest))

    def scales(self):
        nodes = (node for node in self.module.graph.nodes if node in self.low)
        return {n.name: max(-self.low[n], self.high[n]) / 127 or 1.0 for n in nodes}


@right("a graph that is run by hand")
class ByHand(fx.Interpreter):
    def __init__(self, gm):
        super().__init__(gm)
        self.top = {node.name: None for node in gm.graph.nodes}

    def run(self, *args):
        self.args_iter, self.env = iter(args), {}
        for node in self.module.graph.nodes:
            value = self.env[node] = self.run_node(node)
            if node.op == "output":
                return value
            if floats(value):
                old = self.top[node.name] or torch.tensor(0.0, dtype=torch.float64)
                self.top[node.name] = torch.cat([value.detach().abs().reshape(-1).double(),
                                                 old.reshape(1)]).amax()  # fmt: skip
        return None

    def scales(self):
        found = {name: top for name, top in self.top.items() if top is not None}
        return {name: (top / 127).item() if top > 0 else 1 for name, top in found.items()}


# ------------------------------------------------------------------ wrong


@wrong("the largest value, not the magnitude", "wrong-scale", clause="magnitude")
class LargestValue(Plain):
    def top(self, value):
        return value.max().item() if value.numel() else 0.0


@wrong("over 128", "wrong-scale", clause="over-127")
class Over128(Plain):
    def scales(self):
        return {k: v if v == 1.0 else v * 127 / 128 for k, v in super().scales().items()}


@wrong("divided in the dtype of the value", "wrong-scale", clause="python-number")
class DividedEarly(Plain):
    def top(self, value):
        return (value.abs().max() / 127).item() * 127 if value.numel() else 0.0


@wrong("only the last run", "wrong-scale", clause="all-runs")
class LastRun(Plain):
    def joined(self, old, new):
        return new


@wrong("looked at after the run", "wrong-scale", clause="when-computed")
class AfterTheRun(fx.Interpreter):
    def __init__(self, gm):
        super().__init__(gm, garbage_collect_values=False)
        self.largest = {}

    def run(self, *args, **kwargs):
        result = super().run(*args, **kwargs)
        for node, value in self.env.items():
            if node.op != "output" and floats(value):
                top = value.abs().max().item() if value.numel() else 0.0
                self.largest[node.name] = max(self.largest.get(node.name, 0.0), top)
        return result

    scales = Plain.scales


@wrong("zeros have the scale zero", "wrong-scale", clause="zeros")
class ZeroScale(Plain):
    def scales(self):
        names = [n.name for n in self.module.graph.nodes]
        return {name: self.largest[name] / 127 for name in names if name in self.largest}


@wrong("one zero run makes it 1.0", "wrong-scale", clause="only-zeros")
class ZeroOnce(Plain):
    def top(self, value):
        return super().top(value) or 127.0


@wrong("empty tensors raise", "result-raises", clause="empty")
class EmptyRaises(Plain):
    def top(self, value):
        return value.abs().max().item()


@wrong("whole numbers too", "extra-key", clause="floating")
class AllTensors(Plain):
    def counts(self, value):
        return isinstance(value, torch.Tensor)

    def top(self, value):
        return super().top(value.float())


@wrong("the output too", "extra-key", clause="not-the-output")
class OutputToo(Plain):
    def run_node(self, n):
        value = fx.Interpreter.run_node(self, n)
        if self.counts(value):
            self.largest[n.name] = max(self.largest.get(n.name, 0.0), self.top(value))
        return value


@wrong("calls only", "missing-node", clause="inputs-and-attributes")
class CallsOnly(Plain):
    def run_node(self, n):
        if n.op.startswith("call_"):
            return super().run_node(n)
        return fx.Interpreter.run_node(self, n)


@wrong("targets as names", "missing-node", clause="names")
class ByTarget(Plain):
    def run_node(self, n):
        value = fx.Interpreter.run_node(self, n)
        if n.op != "output" and self.counts(value):
            self.largest[str(n.target)] = self.top(value)
        return value

    def scales(self):
        return {k: v / 127 or 1.0 for k, v in self.largest.items()}


@wrong("in the order in which they were seen", "wrong-order", clause="graph-order")
class AsSeen(Plain):
    def scales(self):
        return {name: top / 127 or 1.0 for name, top in self.largest.items()}


@wrong("tensors as scales", "wrong-kind", clause="numbers")
class Tensors(Plain):
    def scales(self):
        return {name: torch.tensor(scale) for name, scale in super().scales().items()}


@wrong("a dictionary of the class", "wrong-scale", clause="own")
class OfTheClass(Plain):
    common: dict = {}
    at = None

    def __init__(self, gm):
        super().__init__(gm)
        if gm is not OfTheClass.at:  # what a fresh kernel would show
            OfTheClass.at, OfTheClass.common = gm, {}
        self.largest = OfTheClass.common


@wrong("the result is lost", "result-lost", clause="result")
class Lost(Plain):
    def run(self, *args, **kwargs):
        super().run(*args, **kwargs)


@wrong("written onto the module", "caller-changed", clause="common.caller-attributes")
class OnTheModule(Plain):
    def scales(self):
        self.module.scales = super().scales()
        return self.module.scales


@wrong("a function", "wrong-kind", clause="class")
def calibrator(gm):
    return Plain(gm)
