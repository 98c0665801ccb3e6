"""Answers to `Calibrator`."""

from __future__ import annotations

import math
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


@wrong("over the whole range, 255", "wrong-scale", clause="over-127")
class WholeRange(Plain):
    def scales(self):
        return {k: v if v == 1.0 else v * 254 / 255 for k, v in super().scales().items()}


@wrong("divided in the dtype of the value", "wrong-scale", clause="over-127")
class DividedEarly(Plain):
    def top(self, value):
        return (value.abs().max() / 127).item() * 127 if value.numel() else 0.0


@wrong("only the last run", "wrong-scale", clause="all-runs")
class LastRun(Plain):
    def joined(self, old, new):
        return new


@wrong("a new dictionary in each run", "wrong-scale", clause="all-runs")
class Forgets(Plain):
    def run(self, *args, **kwargs):
        self.largest = {}
        return super().run(*args, **kwargs)


@wrong("only the first run", "wrong-scale")
class FirstRun(Plain):
    def joined(self, old, new):
        return old or new


@wrong("the mean of the runs", "wrong-scale")
class Mean(Plain):
    def joined(self, old, new):
        return (old + new) / 2 if old else new


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


@wrong("values kept, not copied", "wrong-scale", clause="when-computed")
class Kept(Plain):
    def __init__(self, gm):
        super().__init__(gm)
        self.kept = []

    def run_node(self, n):
        value = fx.Interpreter.run_node(self, n)
        if n.op != "output" and floats(value):
            self.kept.append((n.name, value))
        return value

    def scales(self):
        self.largest = {}
        for name, value in self.kept:
            self.largest[name] = max(self.largest.get(name, 0.0), self.top(value))
        return super().scales()


@wrong("inputs are looked at when they are read", "wrong-scale", clause="when-computed")
class InputsLate(Plain):
    def run(self, *args, **kwargs):
        result = super().run(*args, **kwargs)
        first = next(iter(self.module.graph.nodes))
        if args and floats(args[0]):
            self.largest[first.name] = max(self.largest[first.name], self.top(args[0]))
        return result


@wrong("zeros have the scale zero", "wrong-scale", clause="zeros")
class ZeroScale(Plain):
    def scales(self):
        names = [n.name for n in self.module.graph.nodes]
        return {name: self.largest[name] / 127 for name in names if name in self.largest}


@wrong("a tiny scale for zeros", "wrong-scale", clause="zeros")
class Tiny(Plain):
    def scales(self):
        names = [n.name for n in self.module.graph.nodes]
        return {k: max(self.largest[k] / 127, 1e-8) for k in names if k in self.largest}


@wrong("no scale below 1e-8", "wrong-scale", clause="over-127")
class Floor(Plain):
    def scales(self):
        return {name: max(scale, 1e-8) for name, scale in super().scales().items()}


@wrong("tiny numbers count as zeros", "wrong-scale", clause="zeros")
class TinyAsZero(Plain):
    def scales(self):
        return {k: v if self.largest[k] > 1e-12 else 1.0 for k, v in super().scales().items()}


@wrong("one zero run makes it 1.0", "wrong-scale", clause="only-zeros")
class ZeroOnce(Plain):
    def top(self, value):
        return super().top(value) or 127.0


@wrong("empty tensors raise", "result-raises", clause="empty")
class EmptyRaises(Plain):
    def top(self, value):
        return value.abs().max().item()


@wrong("empty tensors are left out", "missing-node", clause="empty")
class NoEmpty(Plain):
    def counts(self, value):
        return floats(value) and value.numel() > 0


@wrong("an empty tensor makes it zero again", "wrong-scale", clause="all-runs")
class EmptyForgets(Plain):
    def run_node(self, n):
        value = super().run_node(n)
        if n.name in self.largest and floats(value) and value.numel() == 0:
            self.largest[n.name] = 0.0
        return value


@wrong("attributes are looked at before any run", "wrong-scale", clause="when-computed")
class AttributesFirst(Plain):
    def __init__(self, gm):
        super().__init__(gm)
        self.before = {n: self.fetch_attr(n.target) for n in gm.graph.find_nodes(op="get_attr")}
        self.before = {n: v.clone() for n, v in self.before.items() if floats(v)}

    def run_node(self, n):
        value = super().run_node(n)
        if n in self.before:
            self.largest[n.name] = self.top(self.before[n])
        return value


@wrong("zeros are left out", "missing-node", clause="zeros")
class NoZeros(Plain):
    def scales(self):
        return {k: v for k, v in super().scales().items() if self.largest[k]}


@wrong("whole numbers too", "extra-key", clause="floating")
class AllTensors(Plain):
    def counts(self, value):
        return isinstance(value, torch.Tensor)

    def top(self, value):
        return super().top(value.float())


@wrong("Python numbers too", "extra-key", clause="floating")
class NumbersToo(Plain):
    def counts(self, value):
        return floats(value) or type(value) is float

    def top(self, value):
        return super().top(torch.as_tensor(value))


@wrong("tensors in tuples too", "extra-key", clause="floating")
class InTuples(Plain):
    def counts(self, value):
        several = isinstance(value, tuple) and any(map(floats, value))
        return floats(value) or several

    def top(self, value):
        if isinstance(value, tuple):
            return max(self.top(each) for each in value if floats(each))
        return super().top(value)


@wrong("two floating types", "missing-node", clause="floating")
class TwoTypes(Plain):
    def counts(self, value):
        return isinstance(value, torch.Tensor) and value.dtype in (torch.float32, torch.float64)


@wrong("what is not int64 or bool is floating", "extra-key", clause="floating")
class NotLong(Plain):
    def counts(self, value):
        return isinstance(value, torch.Tensor) and value.dtype not in (torch.int64, torch.bool)


@wrong("complex values too", "extra-key", clause="floating")
class ComplexToo(Plain):
    def counts(self, value):
        return floats(value) or (isinstance(value, torch.Tensor) and value.is_complex())


@wrong("float32 only", "missing-node", clause="floating")
class Float32Only(Plain):
    def counts(self, value):
        return floats(value) and value.dtype == torch.float32


@wrong("looked at in single precision", "wrong-scale", clause="magnitude")
class InSinglePrecision(Plain):
    def top(self, value):
        return super().top(value.float())


@wrong("the output too", "extra-key", clause="not-the-output")
class OutputToo(Plain):
    def run_node(self, n):
        value = fx.Interpreter.run_node(self, n)
        if self.counts(value):
            self.largest[n.name] = max(self.largest.get(n.name, 0.0), self.top(value))
        return value


@wrong("the output by its name", "missing-node", clause="not-the-output")
class OutputByName(Plain):
    def run_node(self, n):
        value = fx.Interpreter.run_node(self, n)
        if n.name != "output" and n.name != "result" and self.counts(value):
            self.largest[n.name] = max(self.largest.get(n.name, 0.0), self.top(value))
        return value


@wrong("calls only", "missing-node", clause="inputs-and-attributes")
class CallsOnly(Plain):
    def run_node(self, n):
        if n.op.startswith("call_"):
            return super().run_node(n)
        return fx.Interpreter.run_node(self, n)


@wrong("no attributes", "missing-node", clause="inputs-and-attributes")
class NoAttributes(Plain):
    def run_node(self, n):
        if n.op != "get_attr":
            return super().run_node(n)
        return fx.Interpreter.run_node(self, n)


@wrong("what nobody reads is left out", "missing-node")
class OnlyRead(Plain):
    def run_node(self, n):
        if n.users:
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


@wrong("nodes as keys", "wrong-kind")
class ByNode(Plain):
    def scales(self):
        nodes = {n.name: n for n in self.module.graph.nodes}
        return {nodes[name]: scale for name, scale in super().scales().items()}


@wrong("in the order in which they were seen", "wrong-order", clause="graph-order")
class AsSeen(Plain):
    def scales(self):
        return {name: top / 127 or 1.0 for name, top in self.largest.items()}


@wrong("sorted by name", "wrong-order", clause="graph-order")
class Sorted(Plain):
    def scales(self):
        return dict(sorted(super().scales().items()))


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


@wrong("noted in the nodes' meta", "wrong-scale", clause="own")
class InMeta(Plain):
    def __init__(self, gm):
        super().__init__(gm)
        first = next(iter(gm.graph.nodes))
        self.largest = first.meta.setdefault("largest", {})


@wrong("the result is lost", "result-lost", clause="result")
class Lost(Plain):
    def run(self, *args, **kwargs):
        super().run(*args, **kwargs)


@wrong("the value is made positive on its way", "wrong-result", clause="result")
class Positive(Plain):
    def top(self, value):
        return value.abs_().max().item() if value.numel() else 0.0


@wrong("an empty tensor's largest magnitude is minus infinity", "not-finite")
class BelowAll(Plain):
    def top(self, value):
        return value.abs().max().item() if value.numel() else -math.inf

    def joined(self, old, new):
        return new if old == 0.0 else max(old, new)


@wrong("the result is quantized already", "wrong-result", clause="result")
class Quantizes(Plain):
    def run(self, *args, **kwargs):
        value = super().run(*args, **kwargs)
        return value.mul(8).round() / 8 if floats(value) else value


@wrong("written onto the module", "caller-changed")
class OnTheModule(Plain):
    def scales(self):
        self.module.scales = super().scales()
        return self.module.scales


@wrong("scales is a property", "result-raises")
class AsProperty(Plain):
    @property
    def scales(self):
        return {}


@wrong("a function", "wrong-kind", clause="class")
def calibrator(gm):
    return Plain(gm)


@wrong("the stub", "not-attempted")
class Stub(fx.Interpreter):
    def run_node(self, n):
        raise NotImplementedError

    def scales(self):
        raise NotImplementedError


RARE = "random models have no such values"
BEYOND = {
    "looked at in single precision": "random models have one dtype",
    "float32 only": "random models have one dtype",
    "two floating types": "random models have one dtype",
    "what is not int64 or bool is floating": "random models have one dtype",
    "complex values too": RARE,
    "no scale below 1e-8": RARE,
    "tiny numbers count as zeros": RARE,
    "the output by its name": RARE,
    "attributes are looked at before any run": "no random model changes a buffer",
    "sorted by name": "names of random models may be sorted already",
}
