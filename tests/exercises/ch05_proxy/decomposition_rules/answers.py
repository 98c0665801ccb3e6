"""Answers for `decomposition_rules`."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.exercises import right, wrong


def relu_rule(x):
    return x.clamp(min=0)


def silu_rule(x, inplace=False):
    return x * torch.sigmoid(x)


def softmax_rule(x, dim):
    e = torch.exp(x - torch.amax(x, dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


def rules(relu=relu_rule, silu=silu_rule, softmax=softmax_rule):
    """The dictionary of a right answer; each argument replaces one rule."""
    return {torch.relu: relu, F.silu: silu, torch.softmax: softmax}


@right("clamp, sigmoid, amax")
def _():
    return rules()


@right("where on the other side, exp, max of a tuple", debrief=True)
def _():
    def softmax(input, dim=None, dtype=None):
        top, _ = input.max(dim, keepdim=True)
        e = (input - top).exp()
        return torch.div(e, torch.sum(e, dim=dim, keepdim=True))

    return rules(
        relu=lambda x: torch.where(x < 0, 0, x),
        silu=lambda input, inplace: input / (1 + torch.exp(-input)),
        softmax=softmax,
    )


@right("maximum with zeros, any keywords")
def _():
    def relu(input, **kwargs):
        return torch.maximum(input, torch.zeros_like(input))

    def silu(input, **kwargs):
        return torch.mul(input, torch.reciprocal(torch.add(torch.exp(torch.neg(input)), 1)))

    def softmax(input, dim, **kwargs):
        e = torch.exp(torch.sub(input, torch.max(input, dim, keepdim=True)[0]))
        return e * e.sum(dim=dim, keepdim=True).reciprocal()

    return dict([(torch.relu, relu), (F.silu, silu), (torch.softmax, softmax)])


@right("masked_fill, tanh, values of max, detached")
def _():
    return rules(
        relu=lambda x: x.masked_fill(x <= 0, 0.0),
        silu=lambda x, inplace=False: 0.5 * x * (1 + torch.tanh(x / 2)),
        softmax=lambda x, dim: (
            (x - x.max(dim, True).values.detach()).exp().transpose(dim, 0)
            / (x - x.max(dim, True).values).exp().transpose(dim, 0).sum(0)
        ).transpose(dim, 0),
    )


@right("clamp_min, cases for the sign, unsqueeze")
def _():
    def silu(x, *, inplace):
        small = torch.exp(-x.abs())
        return x * torch.where(x < 0, small / (1 + small), 1 / (1 + small))

    def softmax(x, dim):
        e = torch.exp(x - x.amax(dim).unsqueeze(dim))
        return e / e.sum(dim).unsqueeze(dim)

    return rules(lambda x: torch.clamp_min(x, 0), silu, softmax)


@right("aminmax, whose parts have names, and the last of the cumulative sums")
def _():
    def softmax(x, dim):
        e = torch.exp(x - torch.aminmax(x, dim=dim, keepdim=True).max)
        return e / e.cumsum(dim).amax(dim, keepdim=True)

    return rules(softmax=softmax)


@right("rules that call rules, and a key more")
def _():
    def exp_shifted(x, dim):
        return torch.exp(x - torch.amax(x, dim=(dim,), keepdim=True))

    def softmax(x, dim, dtype=None):
        if dtype is not None:
            x = x.to(dtype)
        return exp_shifted(x, dim) / torch.sum(exp_shifted(x, dim), (dim,), True)

    class Relu:
        def __call__(self, input):
            return torch.clamp(input, 0, None)

    return rules(Relu(), softmax=softmax) | {F.relu: relu_rule}


# ------------------------------------------------------------------ wrong: relu


@wrong("relu as a product", "wrong-result", clause="infinity")
def _():
    return rules(relu=lambda x: (x > 0) * x)


@wrong("relu as a product with a cast", "wrong-result")
def _():
    return rules(relu=lambda x: x * (x > 0).to(x.dtype))


@wrong("relu by where loses NaN", "wrong-result", clause="nan")
def _():
    return rules(relu=lambda x: torch.where(x > 0, x, 0.0))


@wrong("relu by fmax loses NaN", "wrong-result")
def _():
    return rules(relu=lambda x: torch.fmax(x, torch.zeros_like(x)))


@wrong("relu by the absolute value", "wrong-result")
def _():
    return rules(relu=lambda x: (x + x.abs()) / 2)


@wrong("relu by the absolute value, halves", "wrong-result")
def _():
    return rules(relu=lambda x: x / 2 + x.abs() / 2)


@wrong("relu with a ceiling", "wrong-result")
def _():
    return rules(relu=lambda x: x.clamp(0, 1e6))


@wrong("relu by nan_to_num", "wrong-result")
def _():
    return rules(relu=lambda x: torch.nan_to_num(x).clamp(min=0))


@wrong("relu in float32", "wrong-dtype", clause="dtype")
def _():
    return rules(relu=lambda x: x.float().clamp(min=0))


@wrong("relu by way of float32", "wrong-result")
def _():
    return rules(relu=lambda x: x.to(torch.float32).clamp(min=0).to(x.dtype))


@wrong("relu in place", "argument-changed")
def _():
    return rules(relu=lambda x: x.clamp_(min=0))


@wrong("relu with a tensor of zero", "raw-tensor")
def _():
    return rules(relu=lambda x: torch.maximum(x, torch.tensor(0.0)))


@wrong("relu by itself", "not-elementary", clause="elementary")
def _():
    return rules(relu=lambda x: torch.relu(x))


@wrong("relu by its method", "not-elementary")
def _():
    return rules(relu=lambda x: x.relu())


@wrong("relu by threshold", "not-elementary", clause="no-sibling")
def _():
    return rules(relu=lambda x: F.threshold(x, 0, 0))


@wrong("relu by a leaky one", "not-elementary")
def _():
    return rules(relu=lambda x: F.leaky_relu(x, 0.0))


@wrong("relu by hardtanh", "not-elementary")
def _():
    return rules(relu=lambda x: F.hardtanh(x, 0.0, math.inf))


@wrong("relu by relu6 of a scaled value", "not-elementary")
def _():
    return rules(relu=lambda x: torch.where(x > 6, x, F.relu6(x)))


@wrong("relu by a module", "not-elementary")
def _():
    return rules(relu=lambda x: nn.ReLU()(x))


@wrong("relu by its method in place", "not-elementary")
def _():
    return rules(relu=lambda x: x.relu_())


@wrong("relu with a branch", "rule-raises")
def _():
    return rules(relu=lambda x: x if x.sum() > 0 else 0 * x)


@wrong("relu with inplace", "rule-raises")
def _():
    def relu(x, inplace):
        return x.clamp(min=0)

    return rules(relu=relu)


@wrong("relu returns nothing", "wrong-structure")
def _():
    def relu(x):
        x.clamp(min=0)

    return rules(relu=relu)


# ------------------------------------------------------------------ wrong: silu


@wrong("silu takes no inplace", "rule-raises", clause="silu-arguments")
def _():
    return rules(silu=lambda x: x * torch.sigmoid(x))


@wrong("silu overflows", "wrong-result")
def _():
    return rules(silu=lambda x, inplace=False: x * torch.exp(x) / (1 + torch.exp(x)))


@wrong("silu overflows late", "wrong-result")
def _():
    return rules(silu=lambda x, inplace=False: x * (torch.exp(x) / (1 + torch.exp(x))))


@wrong("silu of a clamped value", "wrong-result")
def _():
    return rules(silu=lambda x, inplace=False: x.clamp(min=-10) * torch.sigmoid(x.clamp(min=-10)))


@wrong("silu loses NaN at minus infinity", "wrong-result")
def _():
    return rules(silu=lambda x, inplace=False: torch.where(x > -100, x * torch.sigmoid(x), 0.0))


@wrong("silu with a cut below", "wrong-result")
def _():
    return rules(silu=lambda x, inplace=False: torch.where(x.isinf() & (x < 0), 0, x * x.sigmoid()))


@wrong("silu of what is above 14.5 is the value itself", "wrong-result")
def _():
    return rules(silu=lambda x, inplace=False: torch.where(x > 14.5, x, silu_rule(x)))


@wrong("silu by itself", "not-elementary")
def _():
    return rules(silu=lambda x, inplace=False: F.silu(x))


@wrong("silu by glu", "not-elementary")
def _():
    return rules(silu=lambda x, inplace=False: F.glu(torch.stack([x, x]), dim=0)[0])


@wrong("silu is hardswish", "not-elementary")
def _():
    return rules(silu=lambda x, inplace=False: F.hardswish(x))


@wrong("silu is only the sigmoid", "wrong-result")
def _():
    return rules(silu=lambda x, inplace=False: torch.sigmoid(x))


@wrong("silu in place", "argument-changed")
def _():
    return rules(silu=lambda x, inplace=False: x.mul_(torch.sigmoid(x)))


# ------------------------------------------------------------------ wrong: softmax


@wrong("softmax overflows", "wrong-result", clause="large")
def _():
    return rules(softmax=lambda x, dim: torch.exp(x) / torch.exp(x).sum(dim, keepdim=True))


@wrong("softmax less the maximum of all", "wrong-result")
def _():
    def softmax(x, dim):
        e = torch.exp(x - x.max())
        return e / e.sum(dim, keepdim=True)

    return rules(softmax=softmax)


@wrong("softmax less the mean", "wrong-result")
def _():
    def softmax(x, dim):
        e = torch.exp(x - x.mean(dim, keepdim=True))
        return e / e.sum(dim, keepdim=True)

    return rules(softmax=softmax)


@wrong("softmax of clamped values", "wrong-result")
def _():
    def softmax(x, dim):
        e = torch.exp(x.clamp(-80, 80))
        return e / e.sum(dim, keepdim=True)

    return rules(softmax=softmax)


@wrong("softmax along the last dimension always", "wrong-result")
def _():
    def softmax(x, dim):
        e = torch.exp(x - x.amax(-1, keepdim=True))
        return e / e.sum(-1, keepdim=True)

    return rules(softmax=softmax)


@wrong("softmax moves a dimension there, and exchanges it back", "wrong-result")
def _():
    def softmax(x, dim):
        return softmax_rule(x.movedim(dim, -1), -1).transpose(dim, -1)

    return rules(softmax=softmax)


@wrong("softmax without keepdim", "result-raises")
def _():
    def softmax(x, dim):
        e = torch.exp(x - x.amax(dim))
        return e / e.sum(dim)

    return rules(softmax=softmax)


@wrong("softmax divides by the sum of all", "wrong-result")
def _():
    def softmax(x, dim):
        e = torch.exp(x - x.amax(dim, keepdim=True))
        return e / e.sum()

    return rules(softmax=softmax)


@wrong("softmax with a small number below", "wrong-result")
def _():
    def softmax(x, dim):
        e = torch.exp(x - x.amax(dim, keepdim=True))
        return e / (e.sum(dim, keepdim=True) + 1e-3)

    return rules(softmax=softmax)


@wrong("softmax turns lost rows into zeros", "wrong-result")
def _():
    def softmax(x, dim):
        e = torch.exp(x - x.amax(dim, keepdim=True))
        return torch.nan_to_num(e / e.sum(dim, keepdim=True))

    return rules(softmax=softmax)


@wrong("softmax by logsumexp forgets infinity", "wrong-result")
def _():
    return rules(softmax=lambda x, dim: torch.exp(x - torch.logsumexp(x, dim, keepdim=True)))


@wrong("softmax shifted in place", "argument-changed")
def _():
    def softmax(x, dim):
        e = torch.exp(x.sub_(x.amax(dim, keepdim=True)))
        return e / e.sum(dim, keepdim=True)

    return rules(softmax=softmax)


@wrong("softmax by log_softmax", "not-elementary")
def _():
    return rules(softmax=lambda x, dim: torch.log_softmax(x, dim).exp())


@wrong("softmax of torch.special", "not-elementary")
def _():
    return rules(softmax=lambda x, dim: torch.special.softmax(x, dim))


@wrong("softmax by log_softmax of torch.special", "not-elementary")
def _():
    return rules(softmax=lambda x, dim: torch.special.log_softmax(x, dim).exp())


@wrong("softmax by its method", "not-elementary")
def _():
    return rules(softmax=lambda x, dim: x.softmax(dim))


@wrong("softmax by softmin", "not-elementary")
def _():
    return rules(softmax=lambda x, dim: F.softmin(-x, dim))


@wrong("softmax without dim", "rule-raises", clause="softmax-arguments")
def _():
    return rules(softmax=lambda x: torch.exp(x) / torch.exp(x).sum())


@wrong("softmax by a function of the notebook", "unknown-target")
def _():
    def hidden(x, dim):
        return torch.softmax(x, dim)

    def softmax(x, dim):
        return x.tracer.create_proxy("call_function", hidden, (x, dim), {})

    return rules(softmax=softmax)


# ------------------------------------------------------------------ wrong: the dictionary


@wrong("names as keys", "missing-rule", clause="keys")
def _():
    return {"relu": relu_rule, "silu": silu_rule, "softmax": softmax_rule}


@wrong("F.relu in place of torch.relu", "missing-rule")
def _():
    return {F.relu: relu_rule, F.silu: silu_rule, torch.softmax: softmax_rule}


@wrong("F.softmax in place of torch.softmax", "missing-rule")
def _():
    return {torch.relu: relu_rule, F.silu: silu_rule, F.softmax: softmax_rule}


@wrong("two of three", "missing-rule", clause="three")
def _():
    return {torch.relu: relu_rule, F.silu: silu_rule}


@wrong("a tuple of rules", "wrong-kind")
def _():
    return relu_rule, silu_rule, softmax_rule


@wrong("nothing returned", "returned-none")
def _():
    rules()


@wrong("results in place of rules", "rule-raises")
def _():
    return rules(relu=relu_rule(torch.ones(1)))


TYPOS_ARE_RECORDED = "its answers call methods of a Proxy, which fail when the graph runs"


DECIDES_NOTHING = [
    (
        r"value\.rules\[\]\[\]\.(args\.tuple\[\]|kwargs\.dict.*)",
        "a dimension may go unsaid where another gives the same numbers",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
