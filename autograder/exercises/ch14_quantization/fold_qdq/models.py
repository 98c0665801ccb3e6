"""Graphs for `fold_qdq`; some pairs cancel and others do not."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101, D102

from __future__ import annotations

from dataclasses import replace

import torch
from torch import fx, nn

from autograder.authoring.models import Trial
from autograder.exercises.ch14_quantization.models import GIVEN, mark, traced
from autograder.given import dequantize, quantize


def through(x, scale):
    """Quantize to eight bits, and dequantize."""
    return dequantize(quantize(x, scale), scale)


class Twice(nn.Module):
    def forward(self, x):
        return torch.relu(through(through(torch.sin(x), 0.1), 0.1))


class Often(nn.Module):
    def forward(self, x):
        y = torch.sin(x)
        for _ in range(4):
            y = through(y, 0.05)
        return y + 1


class IntegersIn(nn.Module):
    """`q` already has eight bits."""

    def forward(self, q):
        y = dequantize(q, 0.1)
        return quantize(y, 0.1), quantize(y, 0.2)


class ManyReaders(nn.Module):
    def forward(self, x):
        y = through(torch.sin(x), 0.1)
        q = quantize(y, 0.1)
        return y.neg(), dequantize(q, 0.1).exp(), dequantize(q, 0.3), torch.cat([q, q])


class OtherScales(nn.Module):
    def forward(self, x):
        y = through(x, 0.1)
        z = through(through(y, 0.1000001), 0.2)
        last = quantize(dequantize(quantize(x, 0.1 + 0.2), 0.1 + 0.2), 0.3)  # almost the same scale
        return z, through(y, 0.1), quantize(z, -0.2), last


class WholeNumbers(nn.Module):
    def forward(self, x):
        return through(through(x * 9, 1), 1.0)


class WholeScales(nn.Module):
    """The second quantization has an integer scale."""

    def forward(self, x):
        q = quantize(x * 9, 1.0)
        return dequantize(quantize(dequantize(q, 1.0), 1), 1.0) + x


class OneWay(nn.Module):
    """This order rounds, so it must stay."""

    def forward(self, x):
        return dequantize(quantize(x, 0.5), 0.5).neg()


class Reshaped(nn.Module):
    def forward(self, x):
        y = through(torch.sin(x), 0.1).reshape(-1)
        return through(y, 0.1).exp()


class Moved(nn.Module):
    """All four methods, one after another."""

    def forward(self, x):
        y = through(x, 0.1).transpose(0, 1).flatten(1).permute(1, 0).reshape(-1, 2)
        return through(y, 0.1)


class ReadBetween(nn.Module):
    """A value in between has another reader."""

    def forward(self, x):
        y = through(x, 0.1).flatten()
        return through(y.reshape(2, -1), 0.1), y


class SizeBetween(nn.Module):
    def forward(self, x):
        y = through(x, 0.1)
        z = y.transpose(0, 1)
        w = y.reshape(y.size(1), -1)
        return through(z, 0.1) * z.size(0), through(w, 0.1)


class NotOnTheList(nn.Module):
    def forward(self, x):
        y = through(x, 0.1)
        a = through(torch.flatten(y), 0.1)
        b = through(y.view(-1), 0.1)
        c = through(torch.relu(y), 0.1)
        others = [
            y.clone(),
            y.contiguous(),
            y.unsqueeze(0),
            y.repeat(2, 1),
            y.t(),
            torch.permute(y, (1, 0)),
            torch.reshape(y, (-1,)),
            y.abs().flatten(),
        ]
        return a, b, c, [through(other, 0.1) for other in others]


class OtherWays(nn.Module):
    """Between the calls is an index, or a layer with the name of a method."""

    def __init__(self):
        super().__init__()
        self.flat, self.flatten = nn.Flatten(), nn.Flatten()

    def forward(self, x):
        y = through(x, 0.1)
        return through(y[0], 0.1), through(self.flat(y), 0.1), through(self.flatten(y), 0.1)


class Unread(nn.Module):
    """Some values are not read."""

    def forward(self, x):
        q = quantize(x, 0.1)
        dequantize(q, 0.1)
        dequantize(q, 0.7)
        torch.exp(x)
        quantize(torch.cos(x), 0.1)
        quantize(dequantize(q, 0.4), 0.4)
        return dequantize(q, 0.2)


class UnreadMoves(nn.Module):
    """An unread call moves values, and a `dequantize` after another one is unread."""

    def forward(self, x):
        q = quantize(x, 0.1)
        y = dequantize(q, 0.1)
        y.flatten()
        x.reshape(-1)
        dequantize(dequantize(q, 0.2), 0.3)
        torch.dequantize(x)
        return through(y, 0.1)


def odd_names() -> fx.GraphModule:
    """A graph whose node names do not come from a trace."""
    graph = fx.Graph()
    x = graph.create_node("placeholder", "x", name="dequantize")
    q = graph.create_node("call_function", quantize, (x, 0.1), name="relu")
    dq = graph.create_node("call_function", dequantize, (q, 0.1), name="flatten")
    fn = graph.create_node("call_function", torch.neg, (dq,), name="quantize")
    again = graph.create_node("call_function", quantize, (dq, 0.1), name="x_1")
    end = graph.create_node("call_function", dequantize, (again, 0.1), name="last")
    graph.output((end, fn))
    return fx.GraphModule(nn.Module(), graph)


def with_pairs(trial: Trial, choice: int) -> Trial:
    """A trial with the trace of a random model."""
    gm = traced(trial.model)
    mark(gm)
    return replace(trial, args=(gm,), model=gm, functions={**trial.functions, **GIVEN})
