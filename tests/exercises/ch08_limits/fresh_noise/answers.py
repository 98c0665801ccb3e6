"""Answers for `fresh_noise`."""

from __future__ import annotations

import math

import torch
from torch import fx

from tests.exercises import right, wrong


@right("randn_like")
def like(x):
    return x + torch.randn_like(x)


@right("the shape and the dtype of x", debrief=True)
def shape_and_dtype(x):
    return torch.randn(x.shape, dtype=x.dtype, device=x.device).add(x)


@right("drawn in place, into a new tensor")
def into_a_new_tensor(x):
    return torch.empty_like(x).normal_() + x


@right("the mean is x")
def around_x(x):
    return torch.normal(x, torch.ones_like(x))


@fx.wrap
def noise_for(x):
    return torch.randn(tuple(x.shape)).to(x.dtype)


@right("a wrapped function that is given x")
def wrapped(x):
    return noise_for(x) + x


@right("a method that makes the tensor")
def made_by_method(x):
    return torch.add(x, other=x.new_empty(x.size()).normal_(0, 1))


@right("x is copied, and the copy is changed")
def copy_changed(x):
    return x.clone().add_(torch.randn_like(x))


@right("two uniform draws make a normal one")
def box_muller(x):
    radius = torch.sqrt(-2 * torch.log(1 - torch.rand_like(x)))
    return (radius * torch.cos(2 * math.pi * torch.rand_like(x)) + x).to(x.dtype)


@right("noise is taken away")
def taken_away(x):
    return x - torch.randn_like(x)


@right("of two draws")
def of_two_draws(x):
    return torch.randn_like(x).add(torch.randn_like(x)).div(math.sqrt(2)) + x


# ------------------------------------------------------------------ wrong


@wrong("a fixed shape", "frozen-noise", clause="anew")
def fixed_shape(x):
    return x + torch.randn(2, 3)


@wrong("one number, drawn while it is traced", "frozen-noise", clause="anew")
def frozen_number(x):
    return torch.zeros_like(x) + torch.randn(()).item() + x


@wrong("the dtype forgotten", "wrong-dtype", clause="dtype")
def dtype_forgotten(x):
    return x + torch.randn(x.shape)


@wrong("two dimensions", "result-raises", clause="shape")
def two_dimensions(x):
    return x + torch.randn((x.shape[0], x.shape[1]), dtype=x.dtype)


@wrong("one number for all entries", "not-normal", clause="shape")
def one_number(x):
    return x + torch.randn_like(x.sum())


@wrong("x is changed", "argument-changed", clause="x-unchanged")
def in_place(x):
    return x.add_(torch.randn_like(x))


@wrong("uniform noise", "not-normal", clause="normal")
def uniform(x):
    return x + torch.rand_like(x)


@wrong("x grows a little", "not-plus-x", clause="plus-x")
def grows(x):
    return 1.01 * x + torch.randn_like(x)


@wrong("noise as large as the entry", "not-normal", clause="normal")
def as_large_as_the_entry(x):
    return x + x.abs().clamp(max=1e30) * torch.randn_like(x)


@wrong("laid out as x is", "result-raises", clause="shape")
def laid_out_as_x(x):
    return x.new_empty_strided(x.size(), x.stride()).normal_() + x


@wrong("noise alone", "not-normal", clause="plus-x")
def noise_alone(x):
    return torch.randn_like(x)


@fx.wrap
def seeded_noise(x):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(x.shape, dtype=x.dtype, generator=generator)


@wrong("another noise in the trace", "wrong-result", clause="eager")
def another_in_the_trace(x):
    if isinstance(x, fx.Proxy):
        return x - torch.randn_like(x)
    return x + torch.randn_like(x)


@wrong("the shape is taken apart", "not-traceable", clause="traceable")
def taken_apart(x):
    return x + torch.randn(*x.shape, dtype=x.dtype)


@wrong("a generator with a seed of its own", "frozen-noise", clause="anew")
def own_generator(x):
    return x + seeded_noise(x)


@wrong("numbers that are none become some", "not-plus-x", clause="plus-x")
def become_some(x):
    return torch.nan_to_num(x) + torch.randn_like(x)


@wrong("noise of mean 0 and deviation 1 in every draw", "not-finite", clause="shape")
def standardized(x):
    noise = torch.randn_like(x)
    return x + (noise - noise.mean()) / noise.std()


TYPOS_ARE_RECORDED = "its answers call methods of a Proxy, which fail when the graph runs"
