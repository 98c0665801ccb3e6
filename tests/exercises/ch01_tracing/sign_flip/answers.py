"""Answers to `sign_flip`."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from tests.exercises import right, wrong


@right("where")
def where(x):
    return torch.where(x.sum() > 0, x, -x)


@right("the method where, the other way round")
def where_method(x: Tensor) -> Tensor:
    return x.neg().where(~torch.gt(torch.sum(x), 0), x)


@right("a factor of the same dtype")
def factor(x):
    sign = ((x.sum() > 0) * 2 - 1).to(x.dtype)
    return x * sign


@right("an index into both", debrief=True)
def stacked(x):
    return torch.stack([-x, x])[(x.sum() > 0).long()]


@right("in place on a copy")
def in_place_on_a_copy(x):
    flip = torch.where(x.sum() > 0, 1, -1).type_as(x)
    result = x.clone()
    result.mul_(flip)
    return result


@right("a weighted exponent")
def power(x):
    negative = torch.logical_not(x.sum().gt(0))
    return x.mul(torch.pow(torch.full_like(negative, -1, dtype=torch.int64), negative).to(x.dtype))


@right("masked scatter by select")
def selected(x):
    both = torch.stack((x, torch.neg(x)), dim=0)
    choice = torch.le(x.sum(), 0) | x.sum().isnan()
    return both.index_select(0, choice.to(torch.int64).reshape(1)).squeeze(0)


@right("through an operator of ATen")
def aten(x):
    return torch.ops.aten.where.self(x.sum() > 0, x, -x)


@right("a nested function and keywords")
def nested(x):
    def choose(condition, yes, no):
        return torch.where(condition, input=yes, other=no)

    total = torch.sum(input=x)
    zero = torch.zeros_like(total)
    return choose(torch.gt(input=total, other=zero), x, torch.neg(input=x))


# ------------------------------------------------------------------ wrong


@wrong("the stub", "not-attempted", clause="common.stub")
def stub(x):
    raise NotImplementedError()


@wrong("the branch itself", "not-traceable", clause="traceable")
def branch(x):
    return x if x.sum() > 0 else -x


@wrong("a sum of zero stays", "wrong-result", clause="zero")
def zero_stays(x):
    return torch.where(x.sum() >= 0, x, -x)


@wrong("NaN stays", "wrong-result", clause="nan")
def nan_stays(x):
    return torch.where(x.sum() <= 0, -x, x)


@wrong("the sign of the sum", "wrong-result", clause="zero")
def sign_of_sum(x):
    return x * torch.sign(x.sum()).to(x.dtype)


@wrong("both sides times a condition", "wrong-result", clause="infinite")
def both_sides(x):
    positive = x.sum() > 0
    return positive * x + ~positive * -x


@wrong("a factor, its dtype left open", "wrong-dtype", clause="dtype")
def open_dtype(x):
    return x * torch.where(x.sum() > 0, 1, -1)


@wrong("a float factor", "wrong-dtype", clause="dtype")
def float_factor(x):
    return x * torch.where(x.sum() > 0, 1.0, -1.0)


@wrong("a sum in float32", "wrong-result", clause="value")
def float_sum(x):
    return torch.where(x.float().sum() > 0, x, -x)


@wrong("a sum in the dtype itself", "wrong-result", clause="integers")
def narrow_sum(x):
    return torch.where(x.sum(dtype=x.dtype) > 0, x, -x)


@wrong("one dimension at least", "wrong-shape", clause="shapes")
def one_dimension(x):
    x = torch.atleast_1d(x)
    return torch.where(x.sum() > 0, x, -x)


@wrong("changes its argument", "argument-changed", clause="input-unchanged")
def in_place(x):
    return x.mul_(torch.where(x.sum() > 0, 1, -1).to(x.dtype))


@wrong("a branch on being traced", "wrong-result", clause="depends")
def branch_on_proxy(x):
    if isinstance(x, fx.Proxy):
        return -x
    return x if x.sum() > 0 else -x


def choose(x):
    return x if x.sum() > 0 else -x


fx.wrap("choose")


@wrong("wrapped", "hidden-branch", clause="no-wrap")
def wrapped(x):
    return choose(x)


class Flip(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


@wrong("a leaf module, called by its class", "not-traceable", clause="no-leaf")
def module(x):
    return Flip()(x)


TYPOS_ARE_RECORDED = "its answers call methods of a Proxy, which fail when the graph runs"


DECIDES_NOTHING = [
    (r"runs\[\]\.copy\..*", "a trace that the course makes itself is not asked to be copied"),
    (
        r"value\.graph_module\.signature.*",
        "the course itself traces the function; its parameters are not asked for",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
