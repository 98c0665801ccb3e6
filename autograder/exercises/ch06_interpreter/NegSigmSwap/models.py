"""Small models with negations and sigmoids, for `NegSigmSwap`."""

from __future__ import annotations

import torch
from torch import fx, nn


class SigmoidThenNeg(nn.Module):
    """One function and one method."""

    def forward(self, x):
        return torch.sigmoid(x).neg()


class NegThenSigmoid(nn.Module):
    """The other function and the other method."""

    def forward(self, x):
        return torch.neg(x).sigmoid()


class AllFour(nn.Module):
    """Both functions and both methods."""

    def forward(self, x):
        return torch.sigmoid(torch.neg(x)).neg().sigmoid()


class AmongOthers(nn.Module):
    """Other functions and methods before, between and after."""

    def forward(self, x, y):
        shifted = torch.sigmoid(x * 2) + y
        bounded = shifted.clamp(min=-0.5).neg()
        return torch.where(bounded > y, bounded, y.tanh())


class AsKeywords(nn.Module):
    """These and other operations with keyword arguments."""

    def forward(self, x):
        low = torch.sigmoid(input=x)
        high = torch.neg(input=x)
        return torch.sub(input=low, other=high.sum(dim=0, keepdim=True), alpha=3)


class MayNotFit(nn.Module):
    """A product that raises for inputs whose sizes do not fit."""

    def forward(self, x, y):
        return torch.sigmoid(x) @ y.neg()


class ChangedBetween(nn.Module):
    """The model negates a value, changes it in place, and negates it again."""

    def forward(self, x):
        y = x * 2
        a, b = y.neg(), torch.sigmoid(y)
        y.mul_(0.5).add_(1)
        return a - y.neg(), b * torch.sigmoid(y)


@fx.wrap
def sigmoid(x):
    """A cheap approximation with the name of PyTorch's function."""
    return (x / 6 + 0.5).clamp(0.0, 1.0)


class Namesake(nn.Module):
    """The model's own function `sigmoid`, next to PyTorch's."""

    def forward(self, x):
        return torch.sigmoid(x) + sigmoid(x)


class WithModules(nn.Module):
    """Layers, one of them a Sigmoid module, and a parameter."""

    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 4), nn.Sigmoid())
        self.gain = nn.Parameter(torch.rand(4))

    def forward(self, x):
        return self.block(x).neg() * self.gain
