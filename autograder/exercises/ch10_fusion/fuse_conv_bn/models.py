"""Models for `fuse_conv_bn`: convolutions, BatchNorms, and their other readers."""

# A learner sees these as they are here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import fx, nn


class OnePair(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 2)
        self.bn = nn.BatchNorm2d(3)

    def forward(self, x):
        return torch.relu(self.bn(self.conv(x)))


class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        y = self.conv(input=x)
        return self.bn(input=y)


class LineAndSpace(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Conv1d(2, 2, 2, stride=2, padding=1, dilation=2, padding_mode="circular")
        self.line_norm = nn.BatchNorm1d(2)
        self.space = nn.Conv3d(1, 2, 1)
        self.space_norm = nn.BatchNorm3d(2)

    def forward(self, x, y):
        return self.line_norm(self.line(x)), self.space_norm(self.space(y))


class NamesMislead(nn.Module):
    """The names say one thing, the types another."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Identity()
        self.bn = nn.Tanh()
        self.norm = nn.Conv2d(2, 2, 1)
        self.first = nn.BatchNorm2d(2)

    def forward(self, x):
        return self.first(self.norm(self.bn(self.conv(x))))


class NamesTaken(nn.Module):
    """Names that an answer might give to a new layer exist already."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)
        self.names = (
            "fused fused_0 fused_1 conv_fused fused_conv fused_conv_0 fused_conv_bn "
            "fused_conv_bn_0 conv_bn conv_bn_0 conv_bn_fused conv_1 folded folded_0 conv_folded "
            "fused0 fused1 _fused _fused_0 _fused0 conv_bn0 folded0 _folded _folded_0 _folded0"
        ).split()
        for name in self.names:
            self.add_module(name, nn.PReLU())

    def forward(self, x):
        y = x
        for name in self.names:
            y = getattr(self, name)(y)
        return self.bn(self.conv(x)) + y


class LinearPair(nn.Module):
    """A BatchNorm after a linear layer, which is not a convolution."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.bn = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.bn(self.linear(x))


class OtherReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        y = self.conv(x)
        return self.bn(y) * y


class AlsoReturned(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        y = self.conv(x)
        return y, self.bn(y)


class ShapeIsRead(nn.Module):
    """The other readers of the convolutions read their shape only."""

    def __init__(self):
        super().__init__()
        self.left = nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2))
        self.right = nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2))

    def forward(self, x):
        y, z = self.left[0](x), self.right[0](x)
        return self.left[1](y).reshape(y.shape[0], -1) * self.right[1](z).reshape(z.size(0), -1)


class OneNormTwice(OtherReader):
    """One BatchNorm reads one convolution in two calls."""

    def forward(self, x):
        y = self.conv(x)
        return torch.relu(self.bn(y)) - self.bn(input=y)


class NoStatistics(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2, track_running_stats=False)

    def forward(self, x):
        return self.bn(self.conv(x))


class NoPairs(nn.Module):
    """Similar combinations: other layers, and other orders."""

    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(2, 2, 2)
        self.up_norm = nn.BatchNorm2d(2)
        self.conv = nn.Conv2d(2, 2, 1)
        self.instance = nn.InstanceNorm2d(2, affine=True, track_running_stats=True)
        self.weight = nn.Parameter(torch.rand(2, 2, 1, 1))
        self.norms = nn.ModuleList([nn.BatchNorm2d(2), nn.BatchNorm2d(2), nn.BatchNorm2d(2)])
        self.last = nn.Conv2d(2, 2, 1)

    def forward(self, x):
        y = self.norms[0](x)
        y = self.norms[1](F.conv2d(y, self.weight))
        y = self.up_norm(self.up(y))
        y = self.instance(self.conv(y))
        return self.norms[2](torch.relu(self.last(y)))


class CalledTwice(nn.Module):
    """One convolution, with a separate BatchNorm after each call."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.first = nn.BatchNorm2d(2)
        self.second = nn.BatchNorm2d(2)

    def forward(self, x):
        return self.second(self.conv(self.first(self.conv(x))))


class OncePlain(nn.Module):
    """One convolution, and a BatchNorm after the first of its calls only."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        return self.conv(torch.relu(self.bn(self.conv(x))))


class ReadWeight(nn.Module):
    """The weight of the convolution is read, and another convolution has the same."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.twin = nn.Conv2d(2, 2, 1)
        self.twin.weight = self.conv.weight
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        y = F.conv2d(x, self.conv.weight) + self.twin(x)
        return self.bn(self.conv(y))


class NormUsedElsewhere(nn.Module):
    """The BatchNorm is also called in another place."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        return self.bn(self.conv(x)) + self.bn(x)


class NormIsRead(nn.Module):
    """The BatchNorm's weight is read."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        return self.bn(self.conv(x)) * self.bn.weight.abs().sum()


class StatisticsAreRead(nn.Module):
    """The mean of one BatchNorm is read, and the variance of another."""

    def __init__(self):
        super().__init__()
        self.left = nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2))
        self.right = nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2))

    def forward(self, x):
        left, right = self.left(x).mean((2, 3)), self.right(x).mean((2, 3))
        return left + self.left[1].running_mean, right / self.right[1].running_var


class WrittenBetween(nn.Module):
    """The input of the convolution is changed before the BatchNorm runs."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        x = x * 2
        y = self.conv(x)
        x.add_(1)
        return self.bn(y) + x


class TwoPairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2))
        self.right = nn.Sequential(nn.Conv2d(2, 2, 3, padding="same"), nn.BatchNorm2d(2))

    def forward(self, x):
        return self.left(x) * self.right(x)


class PairsInARow(nn.Module):
    """Two models of this class need not have the same graph."""

    def __init__(self, number=2):
        super().__init__()
        pairs = [nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2)) for _ in range(number)]
        self.pairs = nn.Sequential(*pairs)

    def forward(self, x):
        return torch.tanh(self.pairs(x))


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.paths = nn.ModuleDict(
            {
                "wide": nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU()),
                "small": nn.Sequential(nn.Conv2d(2, 3, 1, bias=False), nn.BatchNorm2d(3)),
            }
        )

    def forward(self, x):
        return torch.cat([self.paths["wide"](x), self.paths["small"](x)], dim=1)


def one_trains(model: nn.Module) -> None:
    """Put the first pair's BatchNorm into training mode."""
    model.get_submodule("left.1").train()


@dataclass(frozen=True)
class Traced:
    """Makes a graph module: the trace of a new model."""

    make: Callable[[], nn.Module]

    def __call__(self) -> fx.GraphModule:
        """A new trace."""
        return fx.symbolic_trace(self.make())
