"""Training steps in which forward calls can, or cannot, be computed again."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import operator
import random
from dataclasses import replace
from typing import Any

from torch import fx, nn

from autograder.authoring.models import Trial, memory_numbers
from autograder.exercises.ch16_training.models import aten, backward, with_backward


class Chain(nn.Module):
    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.cos.default(a)
        c = aten.exp.default(b)
        with backward():
            d = aten.mul.Tensor(c, b)
            e = aten.mul.Tensor(d, a)
        return c, e


class Late(nn.Module):
    """One value is read three times in the backward pass, and the first time late."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.tanh.default(x)
        c = aten.sum.default(aten.mul.Tensor(a, b))
        with backward():
            d = aten.neg.default(x)
            e = aten.add.Tensor(d, a)
            f = aten.mul.Tensor(e, a)
            g = aten.sub.Tensor(f, a)
        return c, g


class Through(nn.Module):
    """A value is needed for another one first, and read itself later."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.cos.default(a)
        c = aten.exp.default(a)
        with backward():
            d = aten.neg.default(c)
            e = aten.mul.Tensor(d, b)
            f = aten.mul.Tensor(e, a)
        return c, f


class Diamond(nn.Module):
    """Two values are made of one, and a third of both."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.cos.default(a)
        c = aten.exp.default(a)
        d = aten.mul.Tensor(b, c)
        e = aten.sum.default(d)
        with backward():
            f = aten.neg.default(d)
            g = aten.mul.Tensor(f, b)
        return e, g


class AlsoForward(nn.Module):
    """Values are read in the forward pass, in the backward pass, and by the output."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.cos.default(x)
        c = aten.exp.default(a)
        with backward():
            d = aten.mul.Tensor(a, b)
        return c, b, d


class Nested(nn.Module):
    """Values are read in lists and as keywords."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.cos.default(x)
        c = aten.cat.default([a, b])
        d = aten.add.Tensor(x, other=a)
        e = aten.sum.default(d)
        with backward():
            f = aten.cat.default([c, b, x])
            g = aten.add.Tensor(x, other=d)
        return e, f, g


class Parts(nn.Module):
    """A value is a tuple, and its parts are read."""

    def forward(self, x):
        a = aten.sort.default(x)
        values, places = operator.getitem(a, 0), operator.getitem(a, 1)
        b = aten.sum.default(values)
        with backward():
            c = aten.gather.default(x, 1, places)
            d = aten.mul.Tensor(c, values)
        return b, d


class Unread(nn.Module):
    """One call is read in the forward pass alone, and two by nobody."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.cos.default(a)
        aten.exp.default(b)
        aten.tanh.default(x)
        with backward():
            c = aten.neg.default(b)
        return b, c


class OfNoise(nn.Module):
    """A value is made of random numbers."""

    def forward(self, x):
        a = aten.rand_like.default(x)
        b = aten.mul.Tensor(x, a)
        c = aten.sum.default(b)
        with backward():
            d = aten.neg.default(b)
        return c, d


class Views(nn.Module):
    """Values share memory with other values, and one with the input."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.view.default(a, [6])
        c = aten.t.default(x)
        d = aten.sum.default(b)
        with backward():
            e = aten.neg.default(b)
            f = aten.mm.default(c, a)
        return d, e, f


class WrittenAround(nn.Module):
    """The input is changed before the call, and again after the backward call that reads it."""

    def forward(self, x):
        a = aten.add_.Tensor(x, 1)
        b = aten.sin.default(a)
        c = aten.sum.default(b)
        with backward():
            d = aten.neg.default(b)
            e = aten.add_.Tensor(a, 1)
            f = aten.mul.Tensor(e, d)
        return c, f


class Layer(nn.Module):
    """A step that takes dictionaries: a layer, a GELU, and a mean of squares."""

    def forward(self, params, x, y):
        a = aten.t.default(params["weight"])
        b = aten.addmm.default(params["bias"], x, a)
        c = aten.gelu.default(b)
        d = aten.mse_loss.default(c, y)
        with backward():
            e = aten.ones_like.default(d)
            f = aten.mse_loss_backward.default(e, c, y, 1)
            g = aten.gelu_backward.default(f, b)
            h = aten.mm.default(aten.t.default(g), x)
            i = aten.sum.dim_IntList(g, [0])
        return d, {"weight": h, "bias": i}


class Norm(nn.Module):
    """A normalization with running statistics, in a mode of choice."""

    def __init__(self, training):
        super().__init__()
        self.training_mode = training

    def forward(self, x, mean, var):
        a = aten.native_batch_norm.default(x, None, None, mean, var, self.training_mode, 0.1, 1e-05)
        b = operator.getitem(a, 0)
        c = aten.sum.default(b)
        with backward():
            d = aten.neg.default(b)
        return c, d


def norm_in_evaluation() -> Norm:
    """The statistics are read."""
    return Norm(False)


def norm_in_training() -> Norm:
    """The statistics are updated."""
    return Norm(True)


class Random(nn.Module):
    def forward(self, x):
        a = aten.rand_like.default(x)
        b = aten.mul.Tensor(x, a)
        with backward():
            c = aten.neg.default(a)
        return b, c


class InPlace(nn.Module):
    """A call writes into the memory of another one."""

    def forward(self, x):
        a = aten.sin.default(x)
        b = aten.view.default(a, [6])
        c = aten.add_.Tensor(b, 1)
        d = aten.sum.default(c)
        with backward():
            e = aten.neg.default(a)
            f = aten.neg.default(c)
        return d, e, f


class Counter(nn.Module):
    """A counter goes on between a call that reads it and the backward pass."""

    def forward(self, x, calls):
        a = aten.mul.Tensor(x, calls)
        aten.add_.Tensor(calls, 1)
        b = aten.sum.default(a)
        with backward():
            c = aten.neg.default(a)
        return b, c


def with_notes(gm: fx.GraphModule) -> None:
    """Add entries to the `meta` of each forward call."""
    for i, node in enumerate(gm.graph.nodes):
        if node.op == "call_function" and "custom" not in node.meta:
            node.meta["custom"] = {"layer": f"layer {i}"}
            node.meta["stack_trace"] = f'File "model.py", line {i}'


def of_random_model(trial: Trial, choice: int) -> Trial:
    """The trial of a random model: a step whose forward pass it is, and some of its calls."""
    gm = with_backward(trial, choice)
    draw = random.Random(choice)
    names: list[str] = []
    memory = dict(zip(gm.graph.nodes, memory_numbers(gm.graph.nodes), strict=True))
    written: set[int] = set()
    for node in gm.graph.nodes:
        if getattr(node.target, "__name__", "").partition(".")[0].endswith("_"):
            written.update(memory[node])
    for node in gm.graph.nodes:
        if node.op != "call_function" or "custom" in node.meta:
            continue
        if any(written.intersection(memory[each]) for each in (node, *node.all_input_nodes)):
            continue
        whole = node.target is not operator.getitem or node.args[0].name in names
        if whole and draw.random() < 0.6:
            names.append(node.name)
    draw.shuffle(names)
    given: Any = set(names) if choice % 2 else names
    return replace(trial, args=(gm, given), model=None, watch=(given,))
