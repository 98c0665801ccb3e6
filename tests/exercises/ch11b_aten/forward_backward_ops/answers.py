"""Answers to `forward_backward_ops`."""

from __future__ import annotations

import copy
import operator
from collections import Counter

import torch
from functorch.compile import (
    make_boxed_func,
    min_cut_rematerialization_partition,
)
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import aot_function, aot_module
from torch.func import functional_call
from torch.utils._python_dispatch import TorchDispatchMode

from tests.exercises import right, wrong


def overloads(gm, key=str):
    calls = (node.target for node in gm.graph.nodes if node.op == "call_function")
    return Counter(key(target) for target in calls if target is not operator.getitem)


def compilers(count=overloads):
    """Two counters, and the compilers that fill them."""
    tables = Counter(), Counter()

    def compiler(table):
        def compile(gm, example_inputs):
            table.update(count(gm))
            return make_boxed_func(gm.forward)

        return compile

    return tables, [compiler(table) for table in tables]


def counted(
    model,
    args,
    *,
    copied=copy.deepcopy,
    copied_args=copy.deepcopy,
    count=overloads,
    run=lambda compiled, args: compiled(*args),
    back=lambda result: result.sum().backward() if result.requires_grad else None,
    tell=tuple,
    **options,
):
    """The structure of most answers; each step can be replaced."""
    tables, (forward, backward) = compilers(count)
    backend = aot_autograd(fw_compiler=forward, bw_compiler=backward, **options)
    compiled = torch.compile(copied(model), backend=backend)
    back(run(compiled, copied_args(args)))
    return tell(tables)


@right("torch.compile of a copy")
def by_compile(model, args):
    return counted(model, args)


@right("aot_module, without Dynamo", debrief=True)
def by_aot_module(model, args):
    seen = []

    def keep(gm, example_inputs):
        seen.append(gm)
        return make_boxed_func(gm.forward)

    twin = copy.deepcopy(model)
    result = aot_module(twin, fw_compiler=keep, bw_compiler=keep)(*[a.clone() for a in args])
    if result.requires_grad:
        torch.autograd.backward(result, torch.ones_like(result))
    first, *rest = [
        Counter(
            str(n.target) for n in gm.graph.nodes if isinstance(n.target, torch._ops.OpOverload)
        )
        for gm in seen
    ]
    return first, (rest[0] if rest else Counter())


@right("aot_function, with all tensors as arguments")
def by_aot_function(model, args):
    tables, (forward, backward) = compilers()
    names, tensors = [], []
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        names.append(name)
        tensors.append(tensor.detach().clone().requires_grad_(tensor.requires_grad))
    twin, size = copy.deepcopy(model), len(names)

    def function(*flat):
        state = dict(zip(names, flat[:size], strict=True))
        return functional_call(twin, state, flat[size:])

    compiled = aot_function(function, fw_compiler=forward, bw_compiler=backward)
    result = compiled(*tensors, *(arg.clone() for arg in args))
    needing = [tensor for tensor in tensors if tensor.requires_grad]
    if result.requires_grad:
        torch.autograd.grad(result.sum(), needing, allow_unused=True)
    return tables


@right("the model itself, and all of it put back")
def put_back(model, args):
    tensors = [*model.parameters(), *model.buffers(), *args]
    grads = [tensor.grad for tensor in tensors]
    values = [tensor.detach().clone() for tensor in tensors]
    for tensor in tensors:
        tensor.grad = None
    tables = [Counter(), Counter()]

    class Compiler:
        def __init__(self, side):
            self.side = side

        def __call__(self, gm, example_inputs):
            for node in gm.graph.nodes:
                name = str(node.target)
                if node.op == "call_function" and name.startswith("aten."):
                    tables[self.side][name] += 1
            return make_boxed_func(gm.forward)

    try:
        backend = aot_autograd(fw_compiler=Compiler(0), bw_compiler=Compiler(1))
        loss = torch.compile(lambda *xs: model(*xs), backend=backend)(*args)
        if loss.grad_fn is not None:
            loss.mean().backward()
    finally:
        with torch.no_grad():
            for tensor, value, grad in zip(tensors, values, grads, strict=True):
                tensor.copy_(value)
                tensor.grad = grad
    forward, backward = tables
    return forward, backward


# ------------------------------------------------------------------ wrong


@wrong("a backward if any parameter needs a gradient", "crashed", clause="no-gradient")
def if_parameters_need_it(model, args):
    needed = any(p.requires_grad for p in model.parameters())
    return counted(model, args, back=lambda result: result.sum().backward() if needed else None)


@wrong("no backward", "missing-graph", clause="backward")
def no_backward(model, args):
    return counted(model, args, back=lambda result: None)


@wrong("getitem counts", "extra-key", clause="getitem")
def with_getitem(model, args):
    def count(gm):
        return Counter(str(n.target) for n in gm.graph.nodes if n.op == "call_function")

    return counted(model, args, count=count)


@wrong("each operator once", "wrong-count", clause="how-often")
def each_once(model, args):
    return counted(model, args, count=lambda gm: Counter(set(overloads(gm))))


@wrong("names without the overload", "extra-key", clause="overload")
def packets(model, args):
    return counted(model, args, count=lambda gm: overloads(gm, lambda t: str(t.overloadpacket)))


@wrong("core decompositions", "extra-key", clause="no-decompositions")
def decomposed(model, args):
    return counted(model, args, decompositions=core_aten_decompositions())


@wrong("another partition", "missing-operator", clause="partition")
def min_cut(model, args):
    return counted(model, args, partition_fn=min_cut_rematerialization_partition)


@wrong("what runs is counted", "extra-key", clause="graphs")
def dispatched(model, args):
    tables = Counter(), Counter()

    class Counting(TorchDispatchMode):
        def __init__(self, table):
            super().__init__()
            self.table = table

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.table[str(func)] += 1
            return func(*args, **(kwargs or {}))

    twin = copy.deepcopy(model)
    with Counting(tables[0]):
        result = twin(*copy.deepcopy(args))
    if result.requires_grad:
        with Counting(tables[1]):
            result.sum().backward()
    return tables


@wrong("the exported program", "extra-key", clause="forward")
def exported(model, args):
    _, backward = counted(model, args)
    program = torch.export.export(copy.deepcopy(model), copy.deepcopy(args))
    return overloads(program.graph_module), backward


@wrong("the two in the other order", "extra-key", clause="two")
def swapped(model, args):
    return counted(model, args, tell=lambda tables: tables[::-1])


@wrong("the model itself", "gradient-left", clause="grad")
def itself(model, args):
    buffers = [buffer.clone() for buffer in model.buffers()]
    result = counted(model, args, copied=lambda model: model)
    with torch.no_grad():
        for buffer, value in zip(model.buffers(), buffers, strict=True):
            buffer.copy_(value)
    return result


@wrong("gradients are set to None", "gradient-left", clause="grad")
def zero_grad(model, args):
    result = counted(model, args)
    model.zero_grad()
    return result


@wrong("a shallow copy", "caller-changed", clause="buffers")
def shared_buffers(model, args):
    grads = {name: p.grad for name, p in model.named_parameters()}
    try:
        return counted(model, args, copied=lambda model: model)
    finally:
        for name, parameter in model.named_parameters():
            parameter.grad = grads[name]


@wrong("eval mode", "caller-changed", clause="modes")
def in_eval(model, args):
    result = counted(model, args)
    model.eval()
    return result


@wrong("the copy is in eval mode", "extra-key", clause="its-mode")
def copy_in_eval(model, args):
    return counted(model, args, copied=lambda model: copy.deepcopy(model).eval())


@wrong("the arguments are not copied", "caller-changed", clause="args")
def own_args(model, args):
    return counted(model, args, copied_args=lambda args: args)


@wrong("arguments need gradients", "wrong-count", clause="inputs")
def needing_args(model, args):
    def needing(args):
        return [arg.clone().requires_grad_() for arg in args]

    def run(compiled, args):
        return compiled(*[arg * 1 for arg in args])

    return counted(model, args, copied_args=needing, run=run)


@wrong("all parameters need gradients", "extra-key", clause="frozen")
def all_needed(model, args):
    return counted(model, args, copied=lambda model: copy.deepcopy(model).requires_grad_())


@wrong("lists of names", "wrong-kind", clause="counters")
def names(model, args):
    return counted(model, args, tell=lambda t: tuple(sorted(table.elements()) for table in t))


@wrong("None where there is no backward", "wrong-kind", clause="empty")
def none_without(model, args):
    return counted(model, args, tell=lambda t: (t[0], t[1] or None))


@wrong("placeholders count", "extra-key", clause="calls")
def all_nodes(model, args):
    def count(gm):
        return Counter(str(n.target) for n in gm.graph.nodes if n.op != "output")

    return counted(model, args, count=count)


DECIDES_NOTHING = [
    (
        r"runs\[\]\.forward\.args\.tuple\[\]",
        "that an argument is as before is seen where it is given, by what has changed",
    ),
]
"""Places in an outcome that decide no points, and why."""
