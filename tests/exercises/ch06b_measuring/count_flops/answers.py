"""Answers for `count_flops`."""

from __future__ import annotations

import math
import operator

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.exercises import right, wrong

PRODUCTS = {operator.matmul, torch.matmul, torch.mm, torch.bmm}
METHODS = {"matmul", "mm", "bmm"}


class Counting(fx.Interpreter):
    """Counts correctly; wrong answers override one part."""

    linears, convs = {F.linear}, {F.conv1d, F.conv2d}
    layers = (nn.Linear, nn.Conv1d, nn.Conv2d)
    products, methods = PRODUCTS, METHODS
    total = 0

    def linear(self, x, weight, out, bias=None):
        return 2 * out.numel() * weight.shape[1]

    def conv(self, x, weight, out, bias=None):
        return 2 * out.numel() * math.prod(weight.shape[1:])

    def product(self, a, b, out):
        return 2 * out.numel() * a.shape[-1]

    @staticmethod
    def pick(args, kwargs, position, *names):
        if position < len(args):
            return args[position]
        return next((kwargs[name] for name in names if name in kwargs), None)

    def call_function(self, target, args, kwargs):
        out = super().call_function(target, args, kwargs)
        if target in self.linears or target in self.convs:
            count = self.linear if target in self.linears else self.conv
            parts = (self.pick(args, kwargs, i, n) for i, n in enumerate(("input", "weight")))
            self.total += count(*parts, out, self.pick(args, kwargs, 2, "bias"))
        elif target in self.products:
            a, b = (self.pick(args, kwargs, i, n) for i, n in enumerate(("input", "other")))
            self.total += self.product(a, self.pick(args, kwargs, 1, "other", "mat2"), out)
        return out

    def call_method(self, target, args, kwargs):
        out = super().call_method(target, args, kwargs)
        if target in self.methods:
            b = self.pick(args, kwargs, 1, "other", "mat2", "tensor2")
            self.total += self.product(args[0], b, out)
        return out

    def call_module(self, target, args, kwargs):
        out = super().call_module(target, args, kwargs)
        module = self.fetch_attr(target)
        if isinstance(module, self.layers):
            count = self.linear if isinstance(module, nn.Linear) else self.conv
            x = self.pick(args, kwargs, 0, "input")
            self.total += count(x, module.weight, out, module.bias)
        return out


def counted_by(cls):
    """The answer that counts with the Interpreter `cls`."""

    def count_flops(model, *inputs):
        counter = cls(fx.symbolic_trace(model))
        counter.run(*inputs)
        return counter.total

    return count_flops


right("an Interpreter with three handlers")(counted_by(Counting))


@right("shapes first, then a loop over the nodes")
def from_shapes(model, *inputs):
    gm = fx.symbolic_trace(model)
    interpreter = fx.Interpreter(gm, garbage_collect_values=False)
    with torch.no_grad():
        interpreter.run(*inputs)
    env, total = interpreter.env, 0
    for node in gm.graph.nodes:
        flat = [*node.args, *node.kwargs.values()]
        out = env[node]
        if node.op == "call_module":
            module = gm.get_submodule(node.target)
            if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d)):
                total += 2 * out.numel() * module.weight[0].numel()
        elif node.op == "call_function" and node.target in (F.linear, F.conv1d, F.conv2d):
            weight = node.kwargs.get("weight", flat[1])
            total += 2 * out.numel() * env[weight][0].numel()
        elif node.target in PRODUCTS or node.op == "call_method" and node.target in METHODS:
            left = node.kwargs.get("input", flat[0])
            total += 2 * out.numel() * env[left].size(-1)
    return total


@right("all in run_node")
def in_run_node(model, *inputs):
    class Counter(fx.Interpreter):
        total = 0

        def run_node(self, n):
            value = super().run_node(n)
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            if n.op == "call_module":
                layer = self.fetch_attr(n.target)
                if isinstance(layer, (nn.Linear, nn.Conv1d, nn.Conv2d)):
                    self.total += 2 * value.numel() * layer.weight[0].numel()
            elif n.target in (F.linear, F.conv1d, F.conv2d):
                weight = kwargs["weight"] if "weight" in kwargs else args[1]
                self.total += 2 * value.numel() * weight[0].numel()
            elif n.target in (operator.matmul, torch.matmul, torch.mm, torch.bmm) or (
                n.op == "call_method" and n.target in ("matmul", "mm", "bmm")
            ):
                left = kwargs["input"] if "input" in kwargs else args[0]
                self.total += 2 * value.numel() * left.shape[-1]
            return value

    counter = Counter(fx.symbolic_trace(model))
    counter.run(*inputs)
    return counter.total


@right("a list of what each node counts", debrief=True)
def listed(model, *inputs):
    gm = fx.symbolic_trace(model)
    values = fx.Interpreter(gm, garbage_collect_values=False)
    values.run(*inputs)

    def value_of(argument):
        return values.env[argument]

    def count(node):
        result = values.env.get(node)
        named = dict(zip(("input", "weight"), node.args, strict=False)) | node.kwargs
        if node.op == "call_module":
            layer = gm.get_submodule(node.target)
            counts = isinstance(layer, (nn.Linear, nn.Conv1d, nn.Conv2d))
            return 2 * result.numel() * layer.weight[0].numel() if counts else 0
        if node.target in (F.linear, F.conv1d, F.conv2d):
            return 2 * result.numel() * value_of(named["weight"])[0].numel()
        if node.target in PRODUCTS or node.op == "call_method" and node.target in METHODS:
            return 2 * result.numel() * value_of(named["input"]).shape[-1]
        return 0

    return sum(map(count, gm.graph.nodes))


class SpelledOut(Counting):
    """Uses every dimension by name."""

    def linear(self, x, weight, out, bias=None):
        outs, ins = weight.shape
        return 2 * (x.numel() // ins) * ins * outs

    def conv(self, x, weight, out, bias=None):
        outs, ins, *kernel = weight.shape
        places = out.numel() // outs
        return 2 * places * outs * ins * math.prod(kernel)

    def product(self, a, b, out):
        batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        (n, k), m = a.shape[-2:], b.shape[-1]
        return 2 * math.prod(batch) * n * k * m


right("every dimension by name")(counted_by(SpelledOut))


# ------------------------------------------------------------------ wrong


class Transposed(Counting):
    layers = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.ConvTranspose2d)


wrong("transposed convolutions count as convolutions", "wrong-count", clause="uncounted")(
    counted_by(Transposed)
)


class SumAndProduct(Counting):
    def call_function(self, target, args, kwargs):
        out = super().call_function(target, args, kwargs)
        if target is torch.addmm:
            self.total += self.product(args[1], args[2], out)
        return out


wrong("addmm, too", "wrong-count", clause="rest")(counted_by(SumAndProduct))


class OneRowAtLeast(Counting):
    def linear(self, x, weight, out, bias=None):
        return 2 * max(1, out.numel() // weight.shape[0]) * weight.numel()


wrong("a layer has one row at least", "wrong-count", clause="linear-dimensions")(
    counted_by(OneRowAtLeast)
)


class BatchOfOne(Counting):
    def conv(self, x, weight, out, bias=None):
        batch, places = out.shape[0], math.prod(out.shape[2:])
        return 2 * batch * places * weight.numel()


wrong("the first dimension of an image is taken for a batch", "wrong-count", clause="unbatched")(
    counted_by(BatchOfOne)
)


class OneForTwo(Counting):
    def linear(self, *parts):
        return super().linear(*parts) // 2

    def conv(self, *parts):
        return super().conv(*parts) // 2

    def product(self, *parts):
        return super().product(*parts) // 2


class WithBias(Counting):
    def linear(self, x, weight, out, bias=None):
        return super().linear(x, weight, out) + (out.numel() if bias is not None else 0)

    def conv(self, x, weight, out, bias=None):
        return super().conv(x, weight, out) + (out.numel() if bias is not None else 0)


class FirstDimension(Counting):
    def linear(self, x, weight, out, bias=None):
        return 2 * x.shape[0] * weight.numel() if x.dim() > 1 else 2 * weight.numel()


class NoGroups(Counting):
    def call_module(self, target, args, kwargs):
        module = self.fetch_attr(target)
        before = self.total
        out = super().call_module(target, args, kwargs)
        self.total = before + (self.total - before) * getattr(module, "groups", 1)
        return out


class NoBatchInConv(Counting):
    def conv(self, x, weight, out, bias=None):
        return super().conv(x, weight, out[:1])


class InputSize(Counting):
    def conv(self, x, weight, out, bias=None):
        return 2 * x.shape[0] * math.prod(x.shape[2:]) * weight.numel()


class NoBroadcast(Counting):
    def product(self, a, b, out):
        return 2 * a.numel() * b.shape[-1]


class NoOperator(Counting):
    products = PRODUCTS - {operator.matmul}


class NoMethods(Counting):
    methods = frozenset()


class OnlyMatmul(Counting):
    products, methods = {operator.matmul, torch.matmul}, {"matmul"}


class ModulesOnly(Counting):
    linears, convs = frozenset(), frozenset()


class NoConv1d(Counting):
    layers = (nn.Linear, nn.Conv2d)


class ExactLinear(Counting):
    def call_module(self, target, args, kwargs):
        module = self.fetch_attr(target)
        if isinstance(module, nn.Linear) and type(module) is not nn.Linear:
            return fx.Interpreter.call_module(self, target, args, kwargs)
        return super().call_module(target, args, kwargs)


class CountsSums(Counting):
    def call_function(self, target, args, kwargs):
        out = super().call_function(target, args, kwargs)
        if target in (operator.add, operator.mul, torch.add, torch.mul):
            self.total += out.numel()
        return out


class EachLayerOnce(Counting):
    def __init__(self, module):
        super().__init__(module)
        self.seen = set()

    def call_module(self, target, args, kwargs):
        if target in self.seen:
            return fx.Interpreter.call_module(self, target, args, kwargs)
        self.seen.add(target)
        return super().call_module(target, args, kwargs)


class KnownLayers(Counting):
    def __init__(self, module):
        super().__init__(module)
        self.known = {}

    def call_module(self, target, args, kwargs):
        before = self.total
        out = super().call_module(target, args, kwargs)
        self.total = before + self.known.setdefault(target, self.total - before)
        return out


class PositionalOnly(Counting):
    @staticmethod
    def pick(args, kwargs, position, *names):
        return args[position] if position < len(args) or not kwargs else args[position]


class Halves(Counting):
    def conv(self, *parts):
        return 1.0 * super().conv(*parts)


for style, cls, finding, clause in (
    ("a multiply-add is one", OneForTwo, "wrong-count", "two"),
    ("the bias counts", WithBias, "wrong-count", "no-bias"),
    (
        "only the first dimension of a linear layer",
        FirstDimension,
        "wrong-count",
        "linear-dimensions",
    ),
    ("groups ignored", NoGroups, "wrong-count", "groups"),
    ("one image of a batch", NoBatchInConv, "wrong-count", "batch"),
    ("size of the input instead of the output", InputSize, "wrong-count", "stride"),
    ("batches on the right are not broadcast", NoBroadcast, "wrong-count", "broadcasting"),
    ("no @", NoOperator, "wrong-count", "matmul-operator"),
    ("no methods", NoMethods, "wrong-count", "matmul-method"),
    ("no mm and no bmm", OnlyMatmul, "wrong-count", "mm-bmm"),
    ("modules, but no functions", ModulesOnly, "wrong-count", "functions"),
    ("no Conv1d", NoConv1d, "wrong-count", "conv1d"),
    ("a subclass of nn.Linear does not count", ExactLinear, "wrong-count", "subclasses"),
    ("sums and products of elements count", CountsSums, "wrong-count", "rest"),
    ("a layer that is called twice counts once", EachLayerOnce, "wrong-count", "called-twice"),
    ("a second call costs what the first one did", KnownLayers, "wrong-count", "called-twice"),
    ("keyword arguments are not found", PositionalOnly, "crashed", "keywords"),
    ("a float for convolutions", Halves, "wrong-kind", "int"),
):
    wrong(style, finding, clause=clause)(counted_by(cls))


@right("the run is made with fake tensors")
def with_fake_tensors(model, *inputs):
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    fakes = [mode.from_tensor(i) if torch.is_tensor(i) else i for i in inputs]
    with mode:
        return counted_by(Counting)(model, *fakes)


BEYOND = {
    "addmm, too": "random models have no relatives of what is on the list",
    "a layer has one row at least": "no input of a random model is empty",
}


def is_outside_the_task(network):
    """Whether the trace calls a function that consists of several operations, such as attention."""
    calls = (node for node in fx.symbolic_trace(network).graph.nodes if node.op == "call_function")
    return any(
        node.target is F.scaled_dot_product_attention
        or node.target.__module__.startswith(("timm", "torchvision"))
        for node in calls
    )
