"""The models of chapter 04 that patterns are searched in, and the patterns."""

# A learner sees these as they stand here; their names say what they are for.
# ruff: noqa: D101, D103

from __future__ import annotations

import torch
from torch import nn

# ------------------------------------------------------------------ patterns


def relu_of_relu(a):
    return torch.relu(torch.relu(a))


def one_relu(a):
    return torch.relu(a)


def sin_plus(a, b):
    return torch.sin(a) + b


def doubled(a):
    return a * 2


def sum_of_two(a, b):
    return a + b


def exp_of_neg(a):
    return torch.exp(torch.neg(a))


def exp_and_neg(a):
    lower = torch.neg(a)
    return torch.exp(lower), lower


def product_and_sum(a, b, c):
    return a * b + c


def joined(parts):
    return torch.cat(parts, dim=-1)


def shifted(a):
    return a + torch.tensor([1.0, 2.0])


class ActThenNorm(nn.Module):
    """A pattern with modules: it asks for `act` and `norm` by these names."""

    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
        self.norm = nn.LayerNorm(3)

    def forward(self, x):
        return self.norm(self.act(x))


# ------------------------------------------------------------------ models for count_matches


class OneWave(nn.Module):
    def forward(self, x, y):
        return torch.sin(x) + y


class ThreeWaves(nn.Module):
    def forward(self, x, y):
        first = torch.sin(x) + y
        second = torch.sin(first) + x
        return (torch.sin(y) + second) * first


class ReluChain(nn.Module):
    def __init__(self, length=3):
        super().__init__()
        self.length = length

    def forward(self, x):
        for _ in range(self.length):
            x = torch.relu(x)
        return x


class OtherOrder(nn.Module):
    def forward(self, x, y):
        first = y + torch.sin(x)
        return torch.sin(first) + y


class OtherNumbers(nn.Module):
    def forward(self, x, n):
        return x * 2 + x * 2.0 - x * 3 + (x + 1) * 2 - 2 * x + x * n


class SameTwice(nn.Module):
    def forward(self, x, y):
        doubled = x + x
        return doubled + y


class Escapes(nn.Module):
    def forward(self, x):
        lower = torch.neg(x)
        return torch.exp(lower) * lower + torch.exp(torch.neg(x + 1))


class OtherSpellings(nn.Module):
    def forward(self, x, y):
        first = torch.add(torch.sin(x), y)
        second = x.sin() + first
        third = torch.sin(input=second) + y
        return torch.sin(third) + second


class InnerReturned(nn.Module):
    def forward(self, x):
        lower = torch.neg(x)
        return lower, torch.exp(lower)


class InnerReturnedDeep(nn.Module):
    def forward(self, x):
        first = torch.relu(x)
        return {"inner": [x, {"first": first}], "outer": torch.relu(first)}


class Numbers(nn.Module):
    def forward(self, x, y):
        return x * 2 + 2 - (x * y + x) * (x * 3 + y)


class Joins(nn.Module):
    def forward(self, x, y):
        left = torch.cat([x, y], dim=-1)
        right = torch.cat((y, x, y), dim=-1)
        return left, right, torch.cat([x, x], dim=1), torch.cat([x.exp(), y], dim=-1)


class Constants(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.rand(2))
        self.gain = nn.Parameter(torch.rand(2))

    def forward(self, x):
        return (x + self.offset) * (x + self.gain) + 1.0


class NamedAlike(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Tanh()
        self.norm = nn.Identity()
        self.relu = nn.ReLU()
        self.layer = nn.LayerNorm(3)

    def forward(self, x):
        first = self.norm(self.act(x))
        second = self.layer(self.relu(first))
        return self.norm(self.act(second))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = OneWave()
        self.other = ThreeWaves()

    def forward(self, x):
        return self.inner(x, self.other(x, self.inner(x, x)))


# ------------------------------------------------------------------ models for replace_until_done


def neg_of_neg(a):
    return torch.neg(torch.neg(a))


def itself(a):
    return a


def relu_of_neg(a):
    return torch.relu(torch.neg(a))


def neg_of_relu(a):
    return torch.neg(torch.relu(a))


def turned_sum(a, b):
    return b + a


def plus_one(a):
    return a + 1


def one_plus(a):
    return torch.add(a, 1)


def sum_then_product(a, b, c):
    return (a + b) * c


def product_then_sum(a, b, c):
    return a * c + b * c


class NegChain(nn.Module):
    def __init__(self, length=4):
        super().__init__()
        self.length = length

    def forward(self, x):
        for _ in range(self.length):
            x = torch.neg(x)
        return x * 2


class Passing(nn.Module):
    """One negation in front of a row of ReLUs."""

    def __init__(self, length=3):
        super().__init__()
        self.length = length

    def forward(self, x):
        x = torch.neg(x)
        for _ in range(self.length):
            x = torch.relu(x)
        return x


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = ReluChain(4)
        self.right = ReluChain(2)
        self.layer = nn.Linear(3, 3)

    def forward(self, x, scale=2.0):
        hidden = self.layer(self.left(x)) * scale
        return {"both": self.right(hidden) - self.left(hidden), "x": x}


class Factors(nn.Module):
    def forward(self, a, b, c):
        return ((a + b) * c + a) * b


class PlusOne(nn.Module):
    def forward(self, x):
        return (x + 1) * (x + 2) + 1
