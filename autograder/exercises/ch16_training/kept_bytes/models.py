"""Training steps whose backward calls read values in different ways."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import operator
from dataclasses import replace

import torch
from torch import nn

from autograder.authoring.models import Trial
from autograder.exercises.ch16_training.models import aten, backward, with_backward


class Chain(nn.Module):
    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.cos.default(a)
        c = aten.exp.default(b)
        with backward():
            d = aten.mul.Tensor(c, a)
        return b, d


class MadeLater(nn.Module):
    """Some values are made and read after the forward pass."""

    def forward(self, x):
        a = aten.sin.default(x)
        with backward():
            b = aten.cos.default(a)
            c = aten.neg.default(b)
            d = aten.mul.Tensor(c, b)
        return a, d


class Layer(nn.Module):
    """A step of one linear layer and a ReLU."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 4))
        self.bias = nn.Parameter(torch.ones(4))

    def forward(self, x):
        w = aten.neg.default(self.weight)
        a = aten.addmm.default(self.bias, x, w)
        b = aten.relu.default(a)
        c = aten.sum.default(b)
        with backward():
            d = aten.ones_like.default(c)
            e = aten.expand.default(d, [2, 4])
            f = aten.threshold_backward.default(e, b, 0)
            g = aten.mm.default(aten.t.default(x), f)
            h = aten.sum.dim_IntList(f, [0])
            i = aten.mm.default(f, aten.t.default(w))
        return c, g, h, i


class Sliced(nn.Module):
    """A slice, one of its entries, and an expanded value are read."""

    def forward(self, x):
        a = aten.sin.default(x)
        first = aten.slice.Tensor(a, 0, 0, 1)
        b = aten.sum.dim_IntList(x, [1], True)
        wide = aten.expand.default(b, [2, 1000])
        with backward():
            c = aten.neg.default(first)
            d = aten.cos.default(wide)
        return c, d


class Padded(nn.Module):
    """The rows of a value are not one after the other in its memory."""

    def forward(self, x):
        rows = aten.new_empty_strided.default(x, [2, 3], [8, 1])
        a = aten.copy_.default(rows, x)
        with backward():
            b = aten.neg.default(a)
        return b


class OfInputs(nn.Module):
    """Views of inputs and parameters are read."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2, 3))

    def forward(self, x):
        a = aten.t.default(x)
        b = aten.view.default(self.scale, [6])
        c = aten.mul.Tensor(x, self.scale)
        with backward():
            d = aten.mm.default(a, x)
            e = aten.neg.default(b)
            f = aten.mul.Tensor(c, self.scale)
        return d, e, f


class InputInPlace(nn.Module):
    """The input is changed in place; its value is read afterwards."""

    def forward(self, x):
        a = aten.mul_.Tensor(x, 2)
        b = aten.cos.default(a)
        with backward():
            c = aten.mul.Tensor(a, b)
        return c


class Views(nn.Module):
    """Two views of one value are read, and not the value."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.view.default(a, [6])
        c = aten.t.default(a)
        with backward():
            d = aten.neg.default(b)
            e = aten.mm.default(c, x)
        return d, e


class InPlace(nn.Module):
    """A value is changed in place, and read under its later name."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.relu_.default(a)
        c = aten.cos.default(b)
        with backward():
            d = aten.mul.Tensor(b, c)
        return d


class Reshaped(nn.Module):
    """The first reshape must copy, and the second one need not."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.reshape.default(aten.t.default(a), [6])
        c = aten.cos.default(x)
        d = aten.reshape.default(c, [6])
        with backward():
            e = aten.neg.default(b)
            f = aten.neg.default(d)
        return e, f


class Parts(nn.Module):
    """Values are tuples; some of their parts are read."""

    def forward(self, x):
        a = aten.sort.default(x)
        values, places = operator.getitem(a, 0), operator.getitem(a, 1)
        b = aten.max.dim(x, 1)
        most = operator.getitem(b, 0)
        operator.getitem(b, 1)
        with backward():
            c = aten.gather.default(x, 1, places)
            d = aten.mul.Tensor(c, values)
            e = aten.neg.default(most)
        return d, e


class Pieces(nn.Module):
    """The parts of a tuple share one memory."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.split.Tensor(a, 1)
        first, second = operator.getitem(b, 0), operator.getitem(b, 1)
        c = aten.cos.default(first)
        with backward():
            d = aten.mul.Tensor(second, c)
        return d


class Kinds(nn.Module):
    """Values of one, two and eight bytes."""

    def forward(self, x):
        a = aten._to_copy.default(x, dtype=torch.float16)
        b = aten.gt.Scalar(x, 0)
        c = aten._to_copy.default(x, dtype=torch.float64)
        with backward():
            d = aten.neg.default(a)
            e = aten.logical_not.default(b)
            f = aten.cos.default(c)
        return d, e, f


class Nested(nn.Module):
    """Values are read in lists and as keywords, and by several calls."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.cos.default(x)
        c = aten.exp.default(x)
        d = aten.tanh.default(x)
        with backward():
            e = aten.cat.default([x, b])
            f = aten.where.self(aten.gt.Scalar(x, 0), c, b)
            g = aten.add.Tensor(x, other=a)
        return e, f, g, d


class OnlyTheOutput(nn.Module):
    """A value is read in the forward pass and by the output alone, and another one by nobody."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.cos.default(x)
        aten.exp.default(x)
        c = aten.mul.Tensor(a, b)
        with backward():
            d = aten.neg.default(b)
        return c, a, d


class Empty(nn.Module):
    """A value without numbers is read, and one number."""

    def forward(self, x):
        a = aten.sin.default(aten.slice.Tensor(x, 0, 0, 0))
        b = aten.sum.default(x)
        with backward():
            c = aten.neg.default(a)
            d = aten.neg.default(b)
        return c, d


class OnlyInputs(nn.Module):
    """The backward calls read inputs alone."""

    def forward(self, x):
        a = aten.sin.default(x)
        with backward():
            b = aten.cos.default(x)
            c = aten.neg.default(b)
        return a, c


class LaterView(nn.Module):
    """A backward call makes a view, which others read."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.cos.default(a)
        with backward():
            c = aten.t.default(a)
            d = aten.mm.default(c, x)
            e = aten.mm.default(d, c)
        return b, e


def of_random_model(trial: Trial, choice: int) -> Trial:
    """The trial of a random model: a step whose forward pass it is."""
    gm = with_backward(trial, choice)
    return replace(trial, args=(gm,), model=gm, noted=True)
