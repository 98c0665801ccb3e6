"""Functions of one tensor for `derivative`, small enough to differentiate by hand."""

# A learner sees these functions as they stand here; their names say what they are for.
# ruff: noqa: D103

from __future__ import annotations

import torch


def add_one(x):
    return x + 1


def line(x):
    return 3 * x - 2


def sine(x):
    return torch.sin(x)


def cosine(x):
    return torch.cos(x)


def exponential(x):
    return torch.exp(x)


def minus(x):
    return -x


def minus_sine(x):
    return -torch.sin(x)


def scaled(x):
    return 3 * torch.cos(x) - 2


def both(x):
    return torch.sin(x) + torch.exp(x)


def product(x):
    return x * torch.sin(x)


def difference(x):
    return torch.sin(x) - torch.exp(x)


# ------------------------------------------------------------------ spellings


def functions(x):
    return torch.mul(torch.add(x, torch.sin(x)), torch.sub(torch.neg(x), torch.exp(x)))


def numbers_in_functions(x):
    return torch.add(torch.mul(x, -3), 2) * torch.sub(x, 0.5)


def methods(x):
    return x.sin().mul(x.exp()).add(x.cos().neg()).sub(x)


def numbers_in_methods(x):
    return x.mul(2).add(1).mul(x.sub(0.5))


def reflected(x):
    return (2 - torch.sin(x)) * (1 + x) * 0.5


def keywords(x):
    scaled = torch.mul(other=2, input=x)
    shifted = torch.sub(other=torch.sin(input=x), input=scaled)
    return torch.add(input=shifted, other=x.mul(other=x)) - torch.neg(input=torch.exp(input=x))


def total(x):
    y = x * x
    y += torch.cos(x)
    y -= x
    y *= 2
    return y


# ------------------------------------------------------------------ values used twice


def square(x):
    return x * x


def twice(x):
    y = torch.sin(x)
    return y + y


def diamond(x):
    y = torch.exp(x)
    return torch.sin(y) * torch.cos(y) - y


def powers(x):
    y = x
    for _ in range(4):
        y = y * x
    return y


def cancels(x):
    return x - x


# ------------------------------------------------------------------ chains


def inside(x):
    return torch.sin(torch.cos(x))


def bell(x):
    return torch.exp(-x * x)


def long_chain(x):
    return torch.cos(torch.sin(torch.exp(torch.cos(-x)) * 0.5) + 1)


# ------------------------------------------------------------------ constants


def number(x):
    return 3.0


def whole_number(x):
    return 2 * 3 - 1


def times_zero(x):
    return x * 0


def identity(x):
    return x


# ------------------------------------------------------------------ everything else


def unused(x):
    waste = torch.exp(x) * 5
    torch.sin(waste)
    return torch.cos(x)


def swing(angle):
    return torch.sin(angle) * angle


def reserved(input):
    return torch.sin(input) * input


def shadow(sin):
    return torch.sin(sin) + torch.cos(sin) * sin


def cubic(x):
    return x * x * x - 2 * x


def damped(t):
    return torch.exp(-0.5 * t) * torch.cos(3 * t)
