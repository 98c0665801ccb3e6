"""Models for `randomize_`, with all kinds of parameters and buffers."""

# A learner sees these classes as they stand here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.models import Trial, arguments, seed_all


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 5)
        self.norm = nn.BatchNorm1d(5)
        self.last = nn.Linear(5, 3)

    def forward(self, x):
        return self.last(torch.tanh(self.norm(self.first(x))))


class Plain2d(nn.BatchNorm2d):
    """A BatchNorm of a different class."""


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4), nn.Tanh())
        self.head = nn.Sequential(nn.Conv2d(4, 2, 1), Plain2d(2, affine=False))

    def forward(self, x):
        return self.head(self.stem(x)).mean(dim=(2, 3))


class Buffers(nn.Module):
    """All kinds of buffers: a counter, saved, not saved, and `None`."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("shift", torch.zeros(3))
        self.register_buffer("gain", torch.ones(3), persistent=False)
        self.register_buffer("order", torch.tensor([2, 0, 1]))
        self.register_buffer("mask", None)
        self.register_parameter("bias", None)

    def forward(self, x):
        return self.norm(x)[:, self.order] * self.gain + self.shift


class Norms(nn.Module):
    """One norm has been trained, the other keeps no statistics."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.norm.num_batches_tracked.fill_(5)
        self.last = nn.BatchNorm1d(3, track_running_stats=False)

    def forward(self, x):
        return self.last(torch.tanh(self.norm(x)))


class Tied(nn.Module):
    """The decoder shares the encoder's weight, and one norm has two names."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 4)
        self.decoder = nn.Linear(4, 4, bias=False)
        self.decoder.weight = self.encoder.weight
        self.norm = nn.BatchNorm1d(4)
        self.parts = nn.ModuleList([self.norm])
        self.register_buffer("scale", self.norm.running_mean)

    def forward(self, x):
        return self.decoder(self.parts[0](self.norm(self.encoder(x)))) * self.scale


class Frozen(nn.Module):
    """A frozen backbone in eval mode."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(3, 4)
        self.backbone.requires_grad_(False).eval()
        self.head = nn.Linear(4, 4)

    def forward(self, x):
        return self.head(torch.relu(self.backbone(x)))


class Scalars(nn.Module):
    """Tensors with a single entry."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(()))
        self.offset = nn.Parameter(torch.zeros(1))
        self.norm = nn.BatchNorm1d(1)
        self.register_buffer("limit", torch.zeros(1, 1))

    def forward(self, x):
        return self.norm(x) * self.gain + self.offset + self.limit


class Precisions(nn.Module):
    """Parameters and buffers with several floating dtypes."""

    def __init__(self):
        super().__init__()
        self.low = nn.Parameter(torch.zeros(2, 6, dtype=torch.float16))
        self.brain = nn.Parameter(torch.zeros(7, dtype=torch.bfloat16))
        self.register_buffer("high", torch.ones(3, dtype=torch.float64))
        self.register_buffer("table", torch.arange(3, dtype=torch.int16))

    def forward(self, x):
        return F.linear(x, self.low.to(x.dtype)) + self.brain[:2] + self.high.sum()


class Transposed(nn.Module):
    """Weights that are not stored row by row."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3).to(memory_format=torch.channels_last)
        self.weight = nn.Parameter(torch.zeros(4, 3).t())

    def forward(self, x):
        return F.linear(self.conv(x).mean(dim=(2, 3)), self.weight)


def traced() -> fx.GraphModule:
    """A graph module with its own tensor."""
    return fx.symbolic_trace(Net())


class Anagrams(nn.Module):
    """Parameters whose names consist of the same letters."""

    def __init__(self):
        super().__init__()
        self.ab = nn.Linear(3, 3)
        self.ba = nn.Linear(3, 3)

    def forward(self, x):
        return self.ba(torch.relu(self.ab(x)))


def norm_alone() -> nn.Module:
    """A model that is a single norm, so its buffers have no path prefix."""
    return nn.BatchNorm3d(9)


@dataclass(frozen=True, eq=False)
class Seeded:
    """Builds a trial: a new model, and a seed for the answer.

    Attributes:
        make: builds the model.
        number: the answer's seed.
        inputs: argument tuples, tensors as `T`.
    """

    make: Callable[[], nn.Module]
    number: int = 17
    inputs: tuple[Any, ...] = ()

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        seed_all(seed)
        model = self.make()
        generator = torch.Generator().manual_seed(seed + 1)
        given = tuple(arguments(specs, generator, torch.float32) for specs in self.inputs)
        return Trial(args=(model, self.number), model=model, inputs=given)


def with_a_seed(trial: Trial, choice: int) -> Trial:
    """Give the trial of a random model a seed other than the one of its own values."""
    return replace(trial, args=(trial.model, 10_000 + choice % 1000))
