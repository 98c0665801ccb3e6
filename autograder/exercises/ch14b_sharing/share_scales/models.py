"""Graphs for `share_scales`, with pairs around calls that only move values."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101, D102

from __future__ import annotations

import random
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.models import Trial, renamed
from autograder.exercises.ch14_quantization.models import GIVEN, mark, traced
from autograder.given import dequantize, quantize


def through(x, scale):
    """Quantize to eight bits, and dequantize."""
    return dequantize(quantize(x, scale), scale)


def forked(x, y):
    """One quantized value is dequantized twice, and each copy is joined with another value."""
    q = quantize(x, 0.1)
    a, b, c = dequantize(q, 0.1), dequantize(q, 0.1), through(y, 0.1)
    first, second = torch.cat([a, c], dim=0), torch.cat((b, x * 2), dim=0)
    both = through(first, 0.1).chunk(2)[0] + through(first, 0.1).chunk(2)[1]
    return both, through(second, 0.1).chunk(2)[0]


# ------------------------------------------------------------------ one operation


class Joined(nn.Module):
    """The second of three scales is the largest."""

    def forward(self, x):
        a, b = through(torch.sin(x), 0.01), through(torch.exp(x), 0.04)
        return through(torch.cat([a, b], dim=1), 0.02).neg()


class Pooled(nn.Module):
    def forward(self, x):
        y = F.max_pool2d(through(x, 0.02), 2)
        z = F.max_pool2d(through(torch.exp(x), 0.01), kernel_size=3, stride=1, padding=1)
        return through(y, 0.01), through(z, 0.03)


class EachMethod(nn.Module):
    def forward(self, x):
        a = through(through(torch.sin(x), 0.01).reshape(-1), 0.02)
        b = through(through(torch.exp(x), 0.03).flatten(1), 0.02)
        c = through(through(torch.cos(x), 0.04).transpose(0, 1), 0.05)
        d = through(through(torch.tanh(x), 0.07).permute(1, 2, 0), 0.06)
        return a, b, c, d


class Keywords(nn.Module):
    def forward(self, x):
        a, b = through(torch.sin(x), 0.01), through(torch.exp(x), 0.04)
        c = through(torch.cat(tensors=[a, b], dim=0), 0.02)
        return through(c.transpose(dim0=0, dim1=1), 0.08), c.neg()


class TinyScale(nn.Module):
    """One value is far smaller than the other."""

    def forward(self, x):
        a, b = through(torch.sin(x) * 0.01, 9e-05), through(torch.cos(x), 0.01)
        return through(torch.cat([a, b]), 0.004)


class CloseScales(nn.Module):
    """Scales that are nearly equal."""

    def forward(self, x):
        a, b = through(torch.sin(x), 0.1), through(torch.exp(x), 0.1005)
        return through(torch.cat([a, b]), 0.1), through(through(x, 0.3).flatten(), 0.1 + 0.2)


# ------------------------------------------------------------------ every call of a pair


class ManyReaders(nn.Module):
    """A value of eight bits is dequantized several times, and is also returned."""

    def forward(self, x):
        q = quantize(torch.sin(x), 0.01)
        a, b = dequantize(q, 0.01), dequantize(q, 0.01)
        p = quantize(a.flatten(), 0.03)
        return b.neg(), dequantize(p, 0.03), dequantize(p, 0.03).exp(), p


class UnreadDequantize(nn.Module):
    """One of the `dequantize` calls is not read."""

    def forward(self, x):
        q = quantize(torch.sin(x), 0.01)
        dequantize(q, 0.01)
        return through(dequantize(q, 0.01).flatten(), 0.03)


class QuantizedTwice(nn.Module):
    """Two calls quantize the joined value with different scales."""

    def forward(self, x):
        y = torch.cat([through(torch.sin(x), 0.01), through(torch.cos(x), 0.02)])
        return through(y, 0.03).neg(), through(y, 0.05).exp(), y.sum()


# ------------------------------------------------------------------ groups


class InARow(nn.Module):
    """Three operations, with a pair between each two."""

    def forward(self, x):
        y = torch.cat([through(torch.sin(x), 0.01), through(torch.cos(x), 0.02)], dim=1)
        y = F.max_pool2d(through(y, 0.03), 2)
        y = through(y, 0.04).flatten(1)
        return through(y, 0.015) + 1


class CommonQuantize(nn.Module):
    """Three operations read a value that was quantized once and dequantized three times."""

    def forward(self, x):
        q = quantize(torch.sin(x), 0.02)
        a, b = dequantize(q, 0.02).flatten(), dequantize(q, 0.02).transpose(0, 1)
        c = dequantize(q, 0.02).reshape(-1, 1)
        return through(a, 0.03), through(b, 0.05), through(c, 0.01)


class Comb(nn.Module):
    """A chain of shared inputs; the largest scale is at one end."""

    def forward(self, x):
        a, b, c, d, e = (through(x * n, 0.01 * n) for n in (5, 1, 2, 3, 4))
        return [through(torch.cat(pair), 0.02) for pair in ((d, e), (b, c), (a, b), (c, d))]


class LongComb(nn.Module):
    """A longer `Comb`, whose largest scale comes last."""

    def forward(self, x):
        v = [through(x * n, 0.01 * n) for n in range(1, 14)]
        return [through(torch.cat([v[i], v[i + 1]]), 0.01) for i in range(12)]


# ------------------------------------------------------------------ not shared


class NotAllDequantized(nn.Module):
    """One input is not dequantized."""

    def forward(self, x):
        a, b = through(torch.sin(x), 0.01), through(torch.exp(x), 0.04)
        c = through(torch.cat([a, x, b]), 0.02)
        return c, through(torch.cat([quantize(x, 0.1), quantize(x, 0.1)]).float(), 0.3)


class NotQuantized(nn.Module):
    """The result is not quantized, or only after another operation."""

    def forward(self, x):
        a, b = through(torch.sin(x), 0.01), through(torch.exp(x), 0.04)
        y = through(torch.relu(torch.cat([a, b])), 0.02)
        return y, through(torch.cos(x), 0.03).flatten(), F.max_pool2d(through(x, 0.05), 2)


class OtherOperations(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool, self.flat, self.flatten = nn.MaxPool2d(2), nn.Flatten(), nn.Flatten()

    def forward(self, x):
        a, b = through(torch.sin(x), 0.01), through(torch.exp(x), 0.04)
        c = through(torch.stack([a, b]), 0.02), through(a + b, 0.05)
        d = through(torch.flatten(a), 0.03), through(b.view(-1), 0.01)
        e = through(self.pool(a), 0.02), through(self.flat(b), 0.06)
        f = through(F.avg_pool2d(a, 2), 0.03), through(a.clone(), 0.04), through(b.abs(), 0.05)
        g = through(self.flatten(a), 0.05), through(torch.add(a, b), 0.05)
        return c, d, e, f, g, through(torch.relu(a), 0.07), through(through(b, 0.08), 0.02)


class MovedTwice(nn.Module):
    """The input of the second operation is not dequantized."""

    def forward(self, x):
        a, b = through(torch.sin(x), 0.01), through(torch.exp(x), 0.04)
        y = through(a.flatten().reshape(-1, 1), 0.05)
        return y, through(torch.cat([b.transpose(0, 1), through(x, 0.02).transpose(0, 1)]), 0.03)


class Relatives(nn.Module):
    """Functions and methods similar to the relevant ones."""

    def forward(self, x):
        a, b = through(torch.sin(x), 0.01), through(torch.exp(x), 0.04)
        c = through(a.contiguous(), 0.02), through(b.unsqueeze(0), 0.05), through(a[0], 0.03)
        d = through(torch.reshape(a, (-1,)), 0.06), through(torch.permute(b, (1, 0, 2, 3)), 0.02)
        e = through(torch.transpose(a, 0, 1), 0.05), through(F.max_pool3d(b, 2), 0.07)
        return c, d, e, through(F.adaptive_max_pool2d(a, 1), 0.04)


def odd_names() -> fx.GraphModule:
    """A graph whose node names do not come from a trace."""
    graph = fx.Graph()
    x = graph.create_node("placeholder", "x", name="dequantize")
    q = graph.create_node("call_function", quantize, (x, 0.02), name="relu")
    dq = graph.create_node("call_function", dequantize, (q, 0.02), name="flatten")
    moved = graph.create_node("call_method", "flatten", (dq,), name="quantize")
    again = graph.create_node("call_function", quantize, (moved, 0.05), name="x_1")
    end = graph.create_node("call_function", dequantize, (again, 0.05), name="cat")
    graph.output((end, moved))
    return fx.GraphModule(nn.Module(), graph)


# ------------------------------------------------------------------ random models


def with_scales(trial: Trial, choice: int) -> Trial:
    """A trial with the trace of a random model, in which each pair has its own scale."""
    gm = traced(trial.model)
    draw = random.Random(choice)
    for node in gm.graph.nodes:
        if node.target is quantize:
            scale = draw.randint(1, 12) / 100
            for call in (node, *(user for user in node.users if user.target is dequantize)):
                call.args = (call.args[0], scale)
    gm.recompile()
    if choice % 3 == 0:
        renamed(gm)
    mark(gm)
    return replace(trial, args=(gm,), model=gm, functions={**trial.functions, **GIVEN})
