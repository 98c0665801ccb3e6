"""Models for `params_of`, with every kind of state and input."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import torch
from torch import nn
from torch.export import ExportedProgram


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.register_buffer("scale", torch.ones(2))

    def forward(self, x):
        return self.linear(x) * self.scale


class Stepwise(nn.Module):
    """The last registered parameter is read first."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.gain = nn.Parameter(torch.ones(3))
        self.bias = nn.Parameter(torch.zeros(3), requires_grad=False)

    def forward(self, y, x):
        return self.norm((x + y) * self.gain + self.bias)


class Masks(nn.Module):
    """One buffer is saved with the model, the other is not."""

    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.ones(3))
        self.register_buffer("mask", torch.ones(3), persistent=False)

    def forward(self, x):
        return x * self.mask + self.kept


class NamedAsMasks(nn.Module):
    """The same code, but the caller passes all tensors."""

    def forward(self, b_kept, b_mask, x):
        return x * b_mask + b_kept


class Unread(nn.Module):
    """Constants in lines whose values are not read."""

    def __init__(self):
        super().__init__()
        self.left = torch.arange(3.0)
        self.right = torch.ones(3)

    def forward(self, x):
        self.left * 2
        self.right.exp()
        return x + 1


class Misleading(nn.Module):
    """Inputs whose names begin like those of parameters, buffers and constants."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.register_buffer("w_1", torch.ones(3))

    def forward(self, p_x, b_x, c_x):
        return p_x * self.w + b_x * self.w_1 + c_x


class Numbers(nn.Module):
    """Inputs that are not tensors, some of which are not read."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x, times, unused, flag, name, nothing=None):
        y = x * self.weight * times
        return y if flag else y + 1


class Times(nn.Module):
    """The number may differ in each call."""

    def forward(self, x, times):
        return x * times


class CountComesBack(nn.Module):
    """Also returns the values that it writes into a buffer and an input."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))
        self.register_buffer("still", torch.ones(3))

    def forward(self, cache, x):
        self.count.add_(1)
        cache.mul_(2)
        return x * self.still, self.count, cache


class Centred(nn.Module):
    """The lines without gradients become a separate graph, with its own placeholders."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x):
        y = x.exp()
        with torch.no_grad():
            mean = y.mean(0) * self.scale
        return y - mean


class Capitals(nn.Module):
    """Names with capital letters, while placeholders have lower-case names."""

    def __init__(self):
        super().__init__()
        self.Fc = nn.Linear(3, 3)
        self.register_buffer("Scale", torch.ones(3))
        self.Table = torch.arange(3.0)

    def forward(self, X):
        return self.Fc(X) * self.Scale + self.Table


class Tied(nn.Module):
    """One layer with two names."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = self.first

    def forward(self, x):
        return self.second(self.first(x))


class Counts(nn.Module):
    """Changes buffers and inputs; the buffer and the input `seen` have the same name."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.register_buffer("seen", torch.zeros(3))
        self.register_buffer("still", torch.ones(3))
        self.register_buffer("hidden", torch.zeros(3), persistent=False)
        self.shift = nn.Parameter(torch.ones(3))

    def forward(self, cache, seen, x):
        self.hidden.add_(1)
        self.seen.add_(x.sum(0))
        self.total.add_(seen)
        cache.mul_(2)
        return x * self.still + self.shift + cache


class OwnNames(nn.Module):
    """An input called `a_b`, a buffer `a.b`, and another one `a_b`; one of them is changed."""

    def __init__(self):
        super().__init__()
        self.a = nn.Module()
        self.a.register_buffer("b", torch.zeros(3))
        self.register_buffer("a_b", torch.zeros(3))

    def forward(self, x, a_b):
        a_b.add_(1)
        return x + self.a.b + self.a_b + a_b


class SameEnds(nn.Module):
    """Names with equal ends: one of the buffers is changed, and one of the inputs."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Module()
        self.inner.register_buffer("count", torch.zeros(3))
        self.register_buffer("count", torch.zeros(3))
        self.register_buffer("counts", torch.zeros(3))

    def forward(self, x, old_x):
        self.count.add_(1)
        x.mul_(2)
        return x + old_x + self.inner.count + self.count + self.counts


def without_products(program: ExportedProgram) -> ExportedProgram:
    """Remove the unread products from the program, but not their inputs."""
    for node in program.graph.find_nodes(op="call_function", target=torch.ops.aten.mul.Tensor):
        program.graph.erase_node(node)
    program.graph_module.recompile()
    return program


def from_last_to_first(program: ExportedProgram) -> ExportedProgram:
    """Reorder the mutated values among the program's outputs."""
    signature = program.graph_signature
    specs, output = signature.output_specs, program.graph.output_node()
    count = len(signature.buffers_to_mutate) + len(signature.user_inputs_to_mutate)
    specs[:count] = specs[:count][::-1]
    values = list(output.args[0])
    output.args = ((*values[:count][::-1], *values[count:]),)
    program.graph_module.recompile()
    return program
