"""Models that call `torch.relu`, `F.silu` and `torch.softmax`, with numbers as inputs."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from autograder.authoring.models import Trial, fresh


@dataclass(frozen=True)
class ValuesTrial:
    """Builds a trial with a model, and inputs from nested lists, in each dtype."""

    model: Callable[[], nn.Module]
    values: tuple[object, ...]
    dtypes: tuple[torch.dtype, ...]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        made = tuple((torch.tensor(v, dtype=dtype),) for v in self.values for dtype in self.dtypes)
        return Trial(model=fresh(self.model, seed), inputs=made)


class Relu(nn.Module):
    def forward(self, x):
        return torch.relu(x)


class Silu(nn.Module):
    def forward(self, x):
        return F.silu(x)


class SoftmaxFirst(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=0)


class SoftmaxLast(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)


class SoftmaxReadAgain(nn.Module):
    def forward(self, x):
        y = x * 2
        return torch.softmax(y, dim=1) - y


class AllThree(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        y = torch.relu(self.linear(x)) + torch.relu(x.sum())
        return torch.softmax(F.silu(y - 1), dim=-1) * F.silu(y)
