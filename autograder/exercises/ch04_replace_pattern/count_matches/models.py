"""The models of `count_matches`, and the patterns to search for."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101, D103

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from autograder.authoring.models import Traced, Trial
from autograder.exercises.ch04_replace_pattern.models import (
    OneWave,
    relu_of_relu,
    sum_of_two,
)

# ------------------------------------------------------------------ patterns


def sin_plus(a, b):
    return torch.sin(a) + b


def doubled(a):
    return a * 2


def exp_of_neg(a):
    return torch.exp(torch.neg(a))


def exp_and_neg(a):
    lower = torch.neg(a)
    return torch.exp(lower), lower


def product_and_sum(a, b, c):
    return a * b + c


def sum_of_sums(a, b, c, d):
    return (a + b) + (c + d)


class ActThenNorm(nn.Module):
    """A pattern with modules: it matches only modules named `act` and `norm`."""

    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
        self.norm = nn.LayerNorm(3)

    def forward(self, x):
        return self.norm(self.act(x))


class FewerWhileTraining(nn.Module):
    """A pattern with its own mode: it is longer in training mode."""

    def forward(self, a):
        return torch.relu(torch.relu(a)) if self.training else torch.relu(a)


# ------------------------------------------------------------------ models


class ThreeWaves(nn.Module):
    def forward(self, x, y):
        first = torch.sin(x) + y
        second = torch.sin(first) + x
        return (torch.sin(y) + second) * first


class TreeOfSums(nn.Module):
    """Places overlap; their number depends on the order of the matches."""

    def forward(self, a, b, c, d):
        left = (a + b) + (c + d)
        right = (a * 2 + b * 2) + (c * 2 + d * 2)
        return left + right


class OtherNumbers(nn.Module):
    def forward(self, x, n):
        return x * 2 + x * 2.0 - x * 3 + (x + 1) * 2 - 2 * x + x * n


class Escapes(nn.Module):
    def forward(self, x):
        lower = torch.neg(x)
        return torch.exp(lower) * lower + torch.exp(torch.neg(x + 1))


class InnerReturned(nn.Module):
    def forward(self, x):
        lower = torch.neg(x)
        return lower, torch.exp(lower)


class InnerReturnedDeep(nn.Module):
    def forward(self, x):
        first = torch.relu(x)
        return {"inner": [x, {"first": first}], "outer": torch.relu(first)}


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


class MoreWhileTraining(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = OneWave()
        self.head = HeadByMode()

    def forward(self, x, y):
        if self.training:
            y = torch.sin(y) + x
        return self.head(self.inner(x, y), y)


class HeadByMode(nn.Module):
    def forward(self, x, y):
        return x if self.training else torch.sin(torch.sin(x) + y) + y


def head_in_eval(model: nn.Module) -> None:
    """Put one part into eval mode."""
    model.head.eval()


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = OneWave()
        self.other = ThreeWaves()

    def forward(self, x):
        return self.inner(x, self.other(x, self.inner(x, x)))


# ------------------------------------------------------------------ arguments


class TwoRelus(nn.Module):
    """A pattern that is a module."""

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        """One ReLU after another."""
        return torch.relu(torch.relu(a))


Pattern = Callable[..., Any]
"""A pattern to count: a function, or a class or function that builds a module."""

PATTERNS: tuple[Pattern, ...] = (
    relu_of_relu,
    sum_of_two,
    exp_of_neg,
    product_and_sum,
    TwoRelus,
    exp_and_neg,
    doubled,
)


def handing(trial: Trial, pattern: Pattern) -> Trial:
    """The trial with a pattern; a module is built again, and must not change."""
    made = pattern() if isinstance(pattern, (type, Traced)) else pattern
    watch = (made,) if isinstance(made, nn.Module) else ()
    return replace(trial, args=(trial.model, made), watch=watch)


@dataclass(frozen=True, eq=False)
class Counted:
    """Builds a trial that passes a pattern in addition to the model."""

    plain: Callable[[int], Trial]
    pattern: Pattern

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        return handing(self.plain(seed), self.pattern)


def with_pattern(trial: Trial, choice: int) -> Trial:
    """The trial with a pattern to count."""
    return handing(trial, PATTERNS[choice % len(PATTERNS)])
