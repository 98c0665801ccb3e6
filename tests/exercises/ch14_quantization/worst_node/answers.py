"""Answers to `worst_node`."""

from __future__ import annotations

import copy

import torch
from torch import fx

from tests.exercises import right, wrong


def floats(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def noted(
    gm, inputs, keep=lambda v: v.detach().clone(), counts=floats,
    kinds=("call_function", "call_method", "call_module"), own=copy.deepcopy,
):  # fmt: skip
    found = {}

    class Notes(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            if n.op in kinds and counts(value):
                found[n.name] = keep(value)
            return value

    Notes(gm).run(*own(inputs))
    return found


def relative(a, b):
    return ((a - b).norm() / a.norm()).item()


def compared(
    a, b, inputs, *, error=relative, nonzero=lambda v: v.any(), pick=max, order=lambda names: names,
    **how,
):  # fmt: skip
    ours, theirs = noted(a, inputs, **how), noted(b, inputs, **how)
    found = {
        name: error(ours[name], theirs[name])
        for name in order(list(ours))
        if name in theirs and nonzero(ours[name])
    }
    return pick(found, key=found.get)


@right("two tables of copies")
def two_tables(float_gm, quant_gm, *inputs):
    return compared(float_gm, quant_gm, inputs)


@right("the second run compares at once", debrief=True)
def at_once(float_gm, quant_gm, *inputs):
    class Notes(fx.Interpreter):
        def __init__(self, gm, other=None):
            super().__init__(gm)
            self.other, self.seen, self.best = other, {}, (-1.0, "")

        def run_node(self, n):
            value = super().run_node(n)
            if not n.op.startswith("call") or not floats(value):
                return value
            if self.other is None:
                self.seen[n.name] = value.detach().double().clone()
            elif n.name in self.other and self.other[n.name].abs().sum() > 0:
                want = self.other[n.name]
                gap = torch.linalg.vector_norm(want - value.double())
                error = float(gap / torch.linalg.vector_norm(want))
                if error > self.best[0]:
                    self.best = error, n.name
            return value

    first = Notes(float_gm)
    first.run(*copy.deepcopy(inputs))
    second = Notes(quant_gm, first.seen)
    second.run(*copy.deepcopy(inputs))
    return second.best[1]


@right("squares, sorted")
def squares(float_gm, quant_gm, *inputs):
    def error(a, b):
        return ((a - b) ** 2).sum().item() / (a**2).sum().item()

    ours, theirs = noted(float_gm, inputs), noted(quant_gm, inputs)
    rows = [(-error(ours[n], theirs[n]), i, n)
            for i, n in enumerate(ours) if n in theirs and ours[n].count_nonzero() > 0]  # fmt: skip
    return sorted(rows)[0][2]


@right("graphs run by hand, in step")
def by_hand(float_gm, quant_gm, *inputs):
    tables = []
    for gm in (float_gm, quant_gm):
        runner, table = fx.Interpreter(gm), {}
        runner.args_iter = iter(runner.module.graph.process_inputs(*copy.deepcopy(inputs)))
        for node in gm.graph.nodes:
            if node.op == "output":
                break
            value = runner.env[node] = runner.run_node(node)
            if node.op not in ("placeholder", "get_attr") and floats(value):
                table[node.name] = value.detach().to(torch.float64, copy=True)
        tables.append(table)
    best, worst = None, -1.0
    for name, value in tables[0].items():
        norm = torch.linalg.norm(value.flatten())
        if name not in tables[1] or norm == 0:
            continue
        error = torch.linalg.norm((tables[1][name] - value).flatten()) / norm
        if error > worst:
            best, worst = name, error
    return best


# ------------------------------------------------------------------ wrong


@wrong("the absolute error", "wrong-node", clause="relative")
def absolute(a, b, *inputs):
    return compared(a, b, inputs, error=lambda p, q: (p - q).norm().item())


@wrong("relative to the quantized value", "wrong-node", clause="of-the-float-value")
def of_the_other(a, b, *inputs):
    return compared(a, b, inputs, error=lambda p, q: ((p - q).norm() / q.norm()).item())


@wrong("the mean of the ratios", "wrong-node", clause="two-norms")
def mean_of_ratios(a, b, *inputs):
    def error(p, q):
        return ((p - q).abs() / p.abs().clamp(min=1e-9)).mean().item()

    return compared(a, b, inputs, error=error)


@wrong("the last of equals", "wrong-node", clause="first-of-equals")
def last_of_equals(a, b, *inputs):
    return compared(a, b, inputs, order=lambda names: names[::-1])


@wrong("the best node", "wrong-node", clause="largest")
def best(a, b, *inputs):
    return compared(a, b, inputs, pick=min)


@wrong("zeros count", "not-compared", clause="not-zeros")
def zeros_count(a, b, *inputs):
    return compared(
        a, b, inputs, nonzero=lambda v: True,
        error=lambda p, q: ((p - q).norm() / p.norm().clamp(min=1e-9)).item(),
    )  # fmt: skip


@wrong("inputs and parameters count", "not-compared", clause="calls")
def all_kinds(a, b, *inputs):
    return compared(
        a, b, inputs, kinds=("placeholder", "get_attr", "call_function", "call_method",
                             "call_module"),
    )  # fmt: skip


@wrong("functions only", "wrong-node", clause="calls")
def functions_only(a, b, *inputs):
    return compared(a, b, inputs, kinds=("call_function",))


@wrong("values of eight bits count", "not-compared", clause="floating")
def any_tensor(a, b, *inputs):
    return compared(
        a, b, inputs, counts=lambda v: isinstance(v, torch.Tensor),
        keep=lambda v: v.detach().float().clone(),
    )  # fmt: skip


@wrong("kept, not copied", "wrong-node", clause="when-computed")
def kept(a, b, *inputs):
    return compared(a, b, inputs, keep=lambda v: v)


@wrong("both on the given inputs", "caller-changed", clause="equal-inputs")
def given_inputs(a, b, *inputs):
    return compared(a, b, inputs, own=lambda inputs: inputs)


@wrong("names of the float graph alone", "crashed", clause="by-name")
def float_names(a, b, *inputs):
    ours, theirs = noted(a, inputs), noted(b, inputs)
    found = {n: relative(ours[n], theirs[n]) for n in ours if ours[n].any()}
    return max(found, key=found.get)


@wrong("the error with the name", "wrong-kind", clause="name")
def with_error(a, b, *inputs):
    return compared(a, b, inputs), 0.5


@wrong("the given graphs are changed", "caller-changed", clause="common.caller-graph")
def changes(a, b, *inputs):
    name = compared(a, b, inputs)
    b.graph.eliminate_dead_code()
    a.worst = name
    return name
