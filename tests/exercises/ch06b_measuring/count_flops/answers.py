"""Answers for `count_flops`."""

from __future__ import annotations

import math
import operator

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

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


@wrong("PyTorch's own counter", "wrong-count")
def by_pytorch(model, *inputs):
    with FlopCounterMode(display=False) as counter:
        model(*inputs)
    return counter.get_total_flops()


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


@wrong("PyTorch's own counter around every node", "wrong-count")
def mode_per_node(model, *inputs):
    class PerNode(fx.Interpreter):
        total = 0

        def run_node(self, n):
            with FlopCounterMode(display=False) as counter:
                value = super().run_node(n)
            self.total += counter.get_total_flops()
            return value

    interpreter = PerNode(fx.symbolic_trace(model))
    interpreter.run(*inputs)
    return int(interpreter.total)


# ------------------------------------------------------------------ wrong


class Transposed(Counting):
    layers = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.ConvTranspose2d)


wrong("transposed convolutions count as convolutions", "wrong-count", clause="transposed")(
    counted_by(Transposed)
)


class TransposedLines(Counting):
    layers = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.ConvTranspose1d)


class Volumes(Counting):
    layers = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)


class FunctionsOfVolumes(Counting):
    convs = {*Counting.convs, F.conv3d}


class SumAndProduct(Counting):
    def call_function(self, target, args, kwargs):
        out = super().call_function(target, args, kwargs)
        if target is torch.addmm:
            self.total += self.product(args[1], args[2], out)
        return out


class WithVectors(Counting):
    products = {*Counting.products, torch.mv}


for style, counting in (
    ("transposed convolutions of lines, too", TransposedLines),
    ("convolutions of volumes, too", Volumes),
    ("F.conv3d, too", FunctionsOfVolumes),
    ("addmm, too", SumAndProduct),
    ("products with a vector, too", WithVectors),
):
    wrong(style, "wrong-count")(counted_by(counting))


class OneRowAtLeast(Counting):
    def linear(self, x, weight, out, bias=None):
        return 2 * max(1, out.numel() // weight.shape[0]) * weight.numel()


wrong("a layer has one row at least", "wrong-count")(counted_by(OneRowAtLeast))


class BatchOfTheSecond(Counting):
    """Counts only the batch of the second factor if that is one matrix."""

    def product(self, a, b, out):
        single = 2 * b.numel() * a.shape[-2]
        return super().product(a, b, out) if b.dim() > 2 else single


wrong("one matrix for a whole batch is counted once", "wrong-count")(counted_by(BatchOfTheSecond))


class BatchOfOne(Counting):
    def conv(self, x, weight, out, bias=None):
        batch, places = out.shape[0], math.prod(out.shape[2:])
        return 2 * batch * places * weight.numel()


wrong("the first dimension of an image is taken for a batch", "wrong-count", clause="unbatched")(
    counted_by(BatchOfOne)
)


class Einsum(Counting):
    def call_function(self, target, args, kwargs):
        out = super().call_function(target, args, kwargs)
        if target is torch.einsum:
            self.total += 2 * out.numel() * args[1].shape[-1]
        return out


wrong("einsum counts, too", "wrong-count", clause="einsum")(counted_by(Einsum))


class Attention(Counting):
    def call_function(self, target, args, kwargs):
        out = super().call_function(target, args, kwargs)
        if target is torch.nn.functional.scaled_dot_product_attention:
            self.total += 4 * out.numel() * args[1].shape[-2]
        return out


wrong("attention counts, too", "wrong-count", clause="attention")(counted_by(Attention))


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


class OneRow(Counting):
    def linear(self, x, weight, out, bias=None):
        return 2 * weight.numel()


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


class SquareKernel(Counting):
    def conv(self, x, weight, out, bias=None):
        return 2 * out.numel() * weight.shape[1] * weight.shape[2] ** (weight.dim() - 2)


class NoBroadcast(Counting):
    def product(self, a, b, out):
        return 2 * a.numel() * b.shape[-1]


class NoBatches(Counting):
    def product(self, a, b, out):
        return 2 * a.shape[-2] * a.shape[-1] * b.shape[-1]


class WrongInner(Counting):
    def product(self, a, b, out):
        return 2 * out.numel() * b.shape[-1]


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


class ExactLayers(Counting):
    def call_module(self, target, args, kwargs):
        if type(self.fetch_attr(target)) not in self.layers[:1]:
            return fx.Interpreter.call_module(self, target, args, kwargs)
        return super().call_module(target, args, kwargs)


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


class CountsNorms(Counting):
    def call_module(self, target, args, kwargs):
        out = super().call_module(target, args, kwargs)
        if "Norm" in type(self.fetch_attr(target)).__name__:
            self.total += 2 * out.numel()
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


class KnownWeights(Counting):
    def __init__(self, module):
        super().__init__(module)
        self.known = {}

    def linear(self, x, weight, out, bias=None):
        return self.known.setdefault(id(weight), super().linear(x, weight, out))


class GroupsByKeyword(Counting):
    """Reads the groups of a function from its keywords, and the channels from its input."""

    def call_function(self, target, args, kwargs):
        if target not in self.convs:
            return super().call_function(target, args, kwargs)
        out = fx.Interpreter.call_function(self, target, args, kwargs)
        x, weight = (self.pick(args, kwargs, i, n) for i, n in enumerate(("input", "weight")))
        channels = x.shape[1 - weight.dim()] // kwargs.get("groups", 1)
        self.total += 2 * out.numel() * channels * weight.shape[2:].numel()
        return out


class EqualCallsOnce(Counting):
    """Does not count a second call of a layer on the same value."""

    def __init__(self, module):
        super().__init__(module)
        self.given = []

    def call_module(self, target, args, kwargs):
        value = self.pick(args, kwargs, 0, "input")
        if any(target == name and value is other for name, other in self.given):
            return fx.Interpreter.call_module(self, target, args, kwargs)
        self.given.append((target, value))
        return super().call_module(target, args, kwargs)


class PositionalOnly(Counting):
    @staticmethod
    def pick(args, kwargs, position, *names):
        return args[position] if position < len(args) or not kwargs else args[position]


class Halves(Counting):
    def conv(self, *parts):
        return 1.0 * super().conv(*parts)


for style, cls, finding in (
    ("a multiply-add is one", OneForTwo, "wrong-count"),
    ("the bias counts", WithBias, "wrong-count"),
    ("one row of a linear layer", OneRow, "wrong-count"),
    ("only the first dimension of a linear layer", FirstDimension, "wrong-count"),
    ("groups ignored", NoGroups, "wrong-count"),
    ("one image of a batch", NoBatchInConv, "wrong-count"),
    ("size of the input instead of the output", InputSize, "wrong-count"),
    ("square kernels", SquareKernel, "wrong-count"),
    ("batches on the right are not broadcast", NoBroadcast, "wrong-count"),
    ("no batches in products", NoBatches, "wrong-count"),
    ("the outer size for the inner", WrongInner, "wrong-count"),
    ("no @", NoOperator, "wrong-count"),
    ("no methods", NoMethods, "wrong-count"),
    ("no mm and no bmm", OnlyMatmul, "wrong-count"),
    ("modules, but no functions", ModulesOnly, "wrong-count"),
    ("no Conv1d", NoConv1d, "wrong-count"),
    ("no convolutions at all", ExactLayers, "wrong-count"),
    ("a subclass of nn.Linear does not count", ExactLinear, "wrong-count"),
    ("sums and products of elements count", CountsSums, "wrong-count"),
    ("norms count", CountsNorms, "wrong-count"),
    ("a layer that is called twice counts once", EachLayerOnce, "wrong-count"),
    ("a second call costs what the first one did", KnownLayers, "wrong-count"),
    ("a weight costs the same each time", KnownWeights, "wrong-count"),
    ("a layer that is given the same value again counts once", EqualCallsOnce, "wrong-count"),
    ("groups by keyword only", GroupsByKeyword, "wrong-count"),
    ("keyword arguments are not found", PositionalOnly, "crashed"),
    ("a float for convolutions", Halves, "wrong-kind"),
):
    wrong(style, finding)(counted_by(cls))


@wrong("weights by name, and a shared one has one name", "crashed")
def weights_by_name(model, *inputs):
    class ByName(Counting):
        def call_module(self, target, args, kwargs):
            if isinstance(self.fetch_attr(target), self.layers):
                dict(self.module.named_parameters())[f"{target}.weight"]
            return super().call_module(target, args, kwargs)

    return counted_by(ByName)(model, *inputs)


@right("the run is made with fake tensors")
def with_fake_tensors(model, *inputs):
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    fakes = [mode.from_tensor(i) if torch.is_tensor(i) else i for i in inputs]
    with mode:
        return counted_by(Counting)(model, *fakes)


@wrong("functions are known by their `__name__`", "wrong-count")
def by_dunder_name(model, *inputs):
    class Counter(fx.Interpreter):
        total = 0

        def run_node(self, n):
            value = super().run_node(n)
            if n.op == "call_function" and n.target not in PRODUCTS:
                if n.target.__name__ in METHODS:
                    self.total += 2 * value.numel() * value.size(-1)
            return value

    counter = Counter(fx.symbolic_trace(model))
    counter.run(*inputs)
    return counter.total + from_shapes(model, *inputs)


@wrong("from the parameters alone", "wrong-count")
def from_parameters(model, *inputs):
    return 2 * sum(p.numel() for p in model.parameters() if p.dim() > 1)


@wrong("PyTorch's counter in training mode", "caller-changed")
def in_training_mode(model, *inputs):
    model.train()
    return by_pytorch(model, *inputs)


@wrong("the stub", "not-attempted")
def stub(model, *inputs):
    raise NotImplementedError


CLAUSES = {
    "a multiply-add is one": "two",
    "the bias counts": "no-bias",
    "groups ignored": "groups",
    "size of the input instead of the output": "stride",
    "no Conv1d": "conv1d",
    "one image of a batch": "batch",
    "only the first dimension of a linear layer": "linear-dimensions",
    "modules, but no functions": "functions",
    "a subclass of nn.Linear does not count": "subclasses",
    "no @": "matmul-operator",
    "no methods": "matmul-method",
    "no mm and no bmm": "mm-bmm",
    "batches on the right are not broadcast": "broadcasting",
    "keyword arguments are not found": "keywords",
    "a layer that is called twice counts once": "called-twice",
    "a second call costs what the first one did": "called-twice",
    "a layer that is given the same value again counts once": "called-twice",
    "groups by keyword only": "groups",
    "sums and products of elements count": "elementwise",
    "norms count": "norms",
    "a float for convolutions": "int",
}
"""Clauses that answers break, if the answers are marked in a loop."""


_RELATIVES = "random models have no relatives of what is on the list"

BEYOND = {
    "functions are known by their `__name__`": "random models call no functions of a notebook",
    "weights by name, and a shared one has one name": "layers of random models share no weight",
    "transposed convolutions of lines, too": _RELATIVES,
    "convolutions of volumes, too": _RELATIVES,
    "F.conv3d, too": _RELATIVES,
    "addmm, too": _RELATIVES,
    "products with a vector, too": _RELATIVES,
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
