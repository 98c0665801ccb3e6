"""The models of `replace_until_done`, and patterns with their replacements."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101, D103

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from autograder.authoring.models import Trial
from autograder.exercises.ch04_replace_pattern.models import (
    ReluChain,
    one_relu,
    relu_of_relu,
)

# ------------------------------------------------------------------ patterns


def neg_of_neg(a):
    return torch.neg(torch.neg(a))


def itself(a):
    return a


def relu_of_neg(a):
    return torch.relu(torch.neg(a))


def neg_of_relu(a):
    return torch.neg(torch.relu(a))


class OwnStep(nn.Module):
    """A replacement with a module of its own, which no model has."""

    def __init__(self):
        super().__init__()
        self.own_step = nn.Identity()

    def forward(self, a):
        return self.own_step(a)


# ------------------------------------------------------------------ models


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


class ReluChainThenSine(nn.Module):
    def forward(self, x):
        for _ in range(7):
            x = torch.relu(x)
        return torch.sin(x)


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = ReluChain(4)
        self.right = ReluChain(2)
        self.layer = nn.Linear(3, 3)

    def forward(self, x, scale=2.0):
        hidden = self.layer(self.left(x)) * scale
        return {"both": self.right(hidden) - self.left(hidden), "x": x}


class PairAndBranches(Branches):
    def forward(self, x, scale=2.0):
        return super().forward(torch.relu(torch.relu(x)).sin(), scale)


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(torch.neg(torch.neg(self.norm(x))))


def norm_in_eval(model: nn.Module) -> None:
    """Freeze the statistics, as fine-tuning does."""
    model.norm.eval()


# ------------------------------------------------------------------ arguments

Pair = tuple[Callable[..., Any], Callable[..., Any]]
"""A pattern and its replacement."""

COLLAPSE: Pair = (relu_of_relu, one_relu)
CANCEL: Pair = (neg_of_neg, itself)
PASS_BY: Pair = (relu_of_neg, neg_of_relu)


@dataclass(frozen=True, eq=False)
class ByModule:
    """Builds a trial with a module as replacement, which is built again each time."""

    plain: Callable[[int], Trial]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        trial = self.plain(seed)
        model, pattern, *_ = trial.args
        return replace(trial, args=(model, pattern, OwnStep()))


def with_pair(trial: Trial, choice: int) -> Trial:
    """The trial with a pattern and its replacement, sometimes with a sufficient limit."""
    pair = CANCEL if choice % 2 else COLLAPSE
    more = (12,) if choice % 4 == 3 else ()
    return replace(trial, args=(trial.model, *pair, *more))
