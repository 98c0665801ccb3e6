"""Small models with dropouts in every spelling, for `remove_dropout`."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.models import TracedInPart

# FX records calls of it instead of tracing into it.
fx.wrap("undo_dropout")


class OneDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.linear(self.drop(x))


class DropoutOutput(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.linear(x))


class DropoutInPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.drop = nn.Dropout(0.5, inplace=True)

    def forward(self, x):
        return self.drop(self.linear(x)) * 2


class KeywordDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(input=x.sin()) * 2


class Dropouts1d(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Dropout1d(0.5)
        self.alpha = nn.AlphaDropout(0.5)
        self.feature = nn.FeatureAlphaDropout(0.5)

    def forward(self, x):
        return self.feature(self.alpha(self.one(x).sin()).cos()) * 2


class AlwaysActive(nn.Module):
    def forward(self, x):
        return F.dropout(x).sin()


class AsTold(nn.Module):
    """The caller chooses whether a dropout is active, and its rate."""

    def forward(self, x, rate=0.3, training=True):
        y = F.dropout(x.cos(), rate, training=training)
        return F.dropout1d(y, p=rate, training=training) * 2


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Dropout(0.5)
        self.second = nn.AlphaDropout(0.5)

    def forward(self, x):
        return F.dropout(self.second(self.first(x))).sin()


class DroppedAgain(nn.Module):
    """Two models of this class can have different graphs."""

    def __init__(self, times=3):
        super().__init__()
        self.times = times

    def forward(self, x):
        for _ in range(self.times):
            x = F.dropout(x.sin())
        return x


class SharedDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.block = nn.Sequential(nn.Linear(3, 3), self.drop)
        self.deep = nn.ModuleList([nn.Sequential(nn.Dropout1d(0.5), nn.Linear(3, 3))])

    def forward(self, x):
        return self.deep[0](self.block(x)) + self.drop(x)


class FrozenNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.norm(x))


class UnreadInPlace(nn.Module):
    """No node reads the result of `mul_`."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        y = x.sin()
        y.mul_(2)
        return self.drop(y) + 1


class ZeroDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        return F.dropout(self.drop(x).sin(), 0.0, False)


class InsideALeaf(nn.Module):
    """The encoder is one node for FX; keep the three dropouts inside it."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.encoder(x)).sin()


class DeepInALeaf(nn.Module):
    """`encoder` is one node for FX; keep its contents. `encoder_drop` is not inside it."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.encoder_drop = nn.Dropout(0.5)

    def forward(self, x):
        y = self.encoder_drop(x.sin())
        return torch.cat(tensors=[self.encoder(x), self.encoder.layers[0].dropout1(y), y])


def undo_dropout(x: torch.Tensor) -> torch.Tensor:
    """A function of the case that graphs may call."""
    return x * 0.5


class SpeaksOfDropout(nn.Module):
    """A parameter, a function and modules with `dropout` in their names."""

    def __init__(self):
        super().__init__()
        self.dropout_rate = nn.Parameter(torch.zeros(3))
        self.no_dropout = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))

    def forward(self, x):
        return undo_dropout(self.no_dropout(x)) * self.dropout_rate


class DroppedWeight(nn.Module):
    """The dropout reads a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3, 3))

    def forward(self, x):
        return F.linear(x, F.dropout(self.weight, 0.5, self.training))


def traced_chain() -> fx.GraphModule:
    """A `GraphModule` that calls submodules; a fresh trace enters them."""
    return TracedInPart(SharedDropout)()
