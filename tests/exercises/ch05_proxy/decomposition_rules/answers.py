"""Answers for `decomposition_rules`."""

from __future__ import annotations

import torch
import torch.nn.functional as F

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


@wrong("relu by where loses NaN", "wrong-result", clause="nan")
def _():
    return rules(relu=lambda x: torch.where(x > 0, x, 0.0))


@wrong("relu with a ceiling", "wrong-result", clause="large")
def _():
    return rules(relu=lambda x: x.clamp(0, 1e6))


@wrong("relu in float32", "wrong-dtype", clause="dtype")
def _():
    return rules(relu=lambda x: x.float().clamp(min=0))


@wrong("relu by itself", "not-elementary", clause="elementary")
def _():
    return rules(relu=lambda x: torch.relu(x))


@wrong("relu by threshold", "not-elementary", clause="no-sibling")
def _():
    return rules(relu=lambda x: F.threshold(x, 0, 0))


# ------------------------------------------------------------------ wrong: silu


@wrong("silu takes no inplace", "rule-raises", clause="silu-arguments")
def _():
    return rules(silu=lambda x: x * torch.sigmoid(x))


@wrong("silu overflows", "wrong-result", clause="large")
def _():
    return rules(silu=lambda x, inplace=False: x * torch.exp(x) / (1 + torch.exp(x)))


@wrong("silu loses NaN at minus infinity", "wrong-result", clause="nan")
def _():
    return rules(silu=lambda x, inplace=False: torch.where(x > -100, x * torch.sigmoid(x), 0.0))


# ------------------------------------------------------------------ wrong: softmax


@wrong("softmax overflows", "wrong-result", clause="large")
def _():
    return rules(softmax=lambda x, dim: torch.exp(x) / torch.exp(x).sum(dim, keepdim=True))


@wrong("softmax along the last dimension always", "wrong-result", clause="dimension")
def _():
    def softmax(x, dim):
        e = torch.exp(x - x.amax(-1, keepdim=True))
        return e / e.sum(-1, keepdim=True)

    return rules(softmax=softmax)


@wrong("softmax without keepdim", "result-raises", clause="dimension")
def _():
    def softmax(x, dim):
        e = torch.exp(x - x.amax(dim))
        return e / e.sum(dim)

    return rules(softmax=softmax)


@wrong("softmax without dim", "rule-raises", clause="softmax-arguments")
def _():
    return rules(softmax=lambda x: torch.exp(x) / torch.exp(x).sum())


# ------------------------------------------------------------------ wrong: the dictionary


@wrong("names as keys", "missing-rule", clause="keys")
def _():
    return {"relu": relu_rule, "silu": silu_rule, "softmax": softmax_rule}


@wrong("two of three", "missing-rule", clause="keys")
def _():
    return {torch.relu: relu_rule, F.silu: silu_rule}


TYPOS_ARE_RECORDED = "its answers call methods of a Proxy, which fail when the graph runs"


DECIDES_NOTHING = [
    (
        r"value\.rules\[\]\[\]\.(args\.tuple\[\]|kwargs\.dict.*)",
        "a dimension may go unsaid where another gives the same numbers",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
