"""The models of `optimize`: small networks in which one clean-up enables the next."""

# A learner sees these as they are here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import is_, not_

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.models import T, Trial, arguments
from autograder.models import networks

# FX records such calls instead of running them during a trace.
for _name in ("print", "not_", "is_"):
    fx.wrap(_name)


class Small(nn.Module):
    """A little of each kind."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 1)
        self.bn = nn.BatchNorm2d(3)
        self.same = nn.Identity()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        y = self.bn(self.conv(x))
        torch.tanh(y)
        return self.drop(torch.relu(self.same(y)))


class Stages(nn.Module):
    """Two models of this class need not have the same graph."""

    def __init__(self, number=2):
        super().__init__()
        stages = [
            nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2), nn.Dropout(0.5))
            for _ in range(number)
        ]
        self.stages = nn.Sequential(*stages)

    def forward(self, x):
        return torch.tanh(self.stages(x))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.act = nn.ReLU(inplace=True)
        self.skip = nn.Identity()
        self.drop = nn.Dropout2d(0.1)

    def forward(self, x):
        return self.skip(x) + self.drop(self.act(self.norm(self.conv(x))))


class Branches(nn.Module):
    """Two branches through blocks."""

    def __init__(self):
        super().__init__()
        self.left = Block(2)
        self.right = nn.Sequential(Block(2), nn.Identity())

    def forward(self, x):
        return torch.cat([self.left(x), self.right(x)], 1).mean((2, 3))


# ------------------------------------------------------------------ dropouts and identities


class DropoutFunctions(nn.Module):
    def forward(self, x):
        y = F.dropout(x, 0.5, self.training) + F.dropout(input=x, training=True)
        y = F.dropout2d(y, p=0.5) * F.alpha_dropout(y, 0.5, True)
        y = F.feature_alpha_dropout(torch.sin(y), training=True)
        return F.dropout1d(y.flatten(2), 0.2, True), F.dropout3d(input=y.unsqueeze(0))


class DropoutsInPlace(nn.Module):
    """Some dropouts, and the values that they write into, are not read."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5, inplace=True)

    def forward(self, x):
        y = F.dropout(torch.tanh(x), 0.5, inplace=True)
        F.dropout(torch.sin(y), 0.5, True, True)
        self.drop(torch.cos(y))
        return self.drop(y * 2)


class DropoutAsTold(nn.Module):
    """The caller passes whether a dropout is active, and its probability."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x, rate=0.5, training=True):
        return self.bn(F.dropout(self.conv(x), rate, training=training))


class Identities(nn.Module):
    """Only identities."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Identity(), nn.Identity(3, unused=True), nn.Dropout(0.5))
        self.last = self.layers[0]

    def forward(self, x):
        return self.last(self.layers(input=x))


class InsideALeaf(nn.Module):
    """A PyTorch layer that the graph calls as a whole contains dropouts."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 3, dropout=0.5, batch_first=True)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.layer(x))


# ------------------------------------------------------------------ dead code


class DeadNorm(nn.Module):
    """An unread BatchNorm in eval mode, and an unread weight."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(2)
        self.weight = nn.Parameter(torch.ones(2, 1, 1))

    def forward(self, x):
        torch.mul(self.norm(x), self.weight)
        return x.flatten(1)


class DeadLogic(nn.Module):
    """A leftover test whether all values are between two bounds, and none is large."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        y = self.conv(x)
        torch.all((y > 0) & (y < 1))
        torch.any((y < -9) | (y > 9))
        return self.bn(y)


class DeadQuestions(nn.Module):
    """FX records `not_` and `is_` here: `fx.wrap` was called for them."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)

    def forward(self, x):
        y = self.conv(x)
        not_(x.size(0))
        is_(x, y)
        return y


class DeadNames(nn.Module):
    """Dead nodes with names like those of in-place methods."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.sigmoid_ = nn.Sigmoid()
        self.mul_ = nn.Parameter(torch.ones(2, 1, 1))

    def forward(self, x):
        y = self.conv(x)
        self.sigmoid_(y) * self.mul_
        return y.relu()


class Effects(nn.Module):
    """Calls without readers that have an effect."""

    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        y = torch.sin(x)
        y.add_(1)
        self.act(y)
        z = self.drop(y) - 1
        F.hardtanh(z, -0.5, 0.5, inplace=True)
        torch._assert(z.dim() == 4, "four dimensions")
        return y, z


class Prints(nn.Module):
    """FX records `print` here: `fx.wrap("print")` was called."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 1)

    def forward(self, x):
        y = self.conv(x)
        print(y.sum())
        torch.exp(y).mean()
        return y


class WrittenTo(nn.Module):
    """Calls without readers that write into a value."""

    def forward(self, x):
        y = torch.zeros_like(x)
        torch.sin(x, out=y)
        z = x * 2
        torch.neg_(z)
        torch.exp(z)
        return y, z


class Repeats(nn.Module):
    """Calls that seem to do nothing, or nothing new, but have readers."""

    def forward(self, x):
        y = torch.relu(torch.relu(x)) * 1 + 0
        return y.clone(), y + torch.relu(x), y.reshape(y.shape)


# ------------------------------------------------------------------ pairs


class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        y = self.conv(input=self.drop(input=x))
        return self.bn(input=y)


class LineAndSpace(nn.Module):
    def __init__(self):
        super().__init__()
        conv = nn.Conv1d(2, 2, 2, stride=2, padding=1, dilation=2, padding_mode="circular")
        self.line = nn.Sequential(conv, nn.BatchNorm1d(2), nn.Dropout1d(0.2))
        self.space = nn.Sequential(nn.Conv3d(1, 2, 1), nn.Dropout3d(0.2), nn.BatchNorm3d(2))

    def forward(self, x, y):
        return self.line(x), self.space(y)


class PairForEachCall(nn.Module):
    """One convolution, with a separate BatchNorm after each call."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.first, self.second = nn.BatchNorm2d(2), nn.BatchNorm2d(2)

    def forward(self, x):
        return self.second(self.conv(torch.relu(self.first(self.conv(x)))))


class TiedWeight(nn.Module):
    """Two convolutions share a weight, and one of them has a BatchNorm."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Conv2d(2, 2, 1), nn.Conv2d(2, 2, 1)
        self.right.weight = self.left.weight
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        return self.bn(self.left(x)) + self.right(x)


class NoPairs(nn.Module):
    """Similar combinations, and a convolution with two living readers."""

    def __init__(self):
        super().__init__()
        self.up = nn.Sequential(nn.ConvTranspose2d(2, 2, 1), nn.BatchNorm2d(2))
        self.free = nn.Sequential(nn.Conv2d(2, 2, 1), nn.InstanceNorm2d(2))
        self.loose = nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2, track_running_stats=False))
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)
        self.late = nn.Sequential(nn.Conv2d(2, 2, 1), nn.ReLU(), nn.BatchNorm2d(2))

    def forward(self, x):
        y = self.conv(self.free(self.loose(self.up(x))))
        return self.bn(y) * y + self.late(x)


class OtherReaders(nn.Module):
    """One convolution's result is also returned; a BatchNorm reads another one's twice."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Conv2d(2, 2, 1), nn.Conv2d(2, 2, 1)
        self.bn, self.twice = nn.BatchNorm2d(2), nn.BatchNorm2d(2)

    def forward(self, x):
        y, z = self.left(x), self.right(x)
        return y, self.bn(y), torch.relu(self.twice(z)) - self.twice(input=z)


class SizeRead(nn.Module):
    """The size of a convolution's result is also read."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2)

    def forward(self, x):
        y = self.conv(x)
        return self.bn(y).reshape(y.size(0), -1)


class LinearNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))

    def forward(self, x):
        return self.layers(x.mean((2, 3)))


class OtherNorms(nn.Module):
    """One BatchNorm has a large `eps`, the other has no weight and no bias."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3, eps=0.5))
        self.second = nn.Sequential(nn.Conv2d(3, 2, 1, bias=False), nn.BatchNorm2d(2, affine=False))

    def forward(self, x):
        return self.second(self.first(x))


class NamesOfOthers(nn.Module):
    """Parameters, buffers and containers have names that an answer might give to new layers."""

    words = ("fused", "folded", "conv_fused", "conv_bn", "fused_conv", "conv_folded", "new_conv")

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)
        for word in self.words:
            self.register_buffer(word, torch.ones(()))
            self.register_parameter(f"{word}_0", nn.Parameter(torch.ones(())))
            self.add_module(f"{word}_1", nn.Sequential(nn.PReLU()))

    def forward(self, x):
        y = x
        for word in self.words:
            y = getattr(self, f"{word}_1")(y * getattr(self, f"{word}_0")) + getattr(self, word)
        return self.bn(self.conv(x)) + y


class ManyNamesTaken(nn.Module):
    """Layers have words that an answer might use for new names, alone and with a number."""

    words = (
        "fused folded merged optimized new conv_fused fused_conv conv_bn conv_bn_fused "
        "fused_conv_bn conv_folded folded_conv conv_optimized optimized_conv new_conv bn_fused"
    ).split()

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)
        self.names = [
            start + word + end
            for start in ("", "_")
            for word in self.words
            for end in ("", "0", "1", "_0", "_1")
        ]
        for name in self.names:
            self.add_module(name, nn.PReLU())

    def forward(self, x):
        y = self.bn(self.conv(x))
        for name in self.names:
            y = y + getattr(self, name)(x)
        return y


class WrittenBetween(nn.Module):
    """The convolution's input is changed before the BatchNorm runs."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        x = x * 2
        y = self.conv(x)
        x.add_(1)
        return self.bn(y) + x


# ------------------------------------------------------------------ pairs that meet


class MeetAfterIdentity(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(2, 2, 1), nn.Identity(), nn.BatchNorm2d(2))

    def forward(self, x):
        return torch.relu(self.layers(x))


class TwoNorms(nn.Module):
    """Two BatchNorms in a row: the second one forms a pair after the first is fused."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2), nn.Dropout(0.5), nn.BatchNorm2d(2)
        )

    def forward(self, x):
        return self.layers(x)


# ------------------------------------------------------------------ networks


Maker = Callable[[], nn.Module]


@dataclass(frozen=True, eq=False)
class NetworkTrial:
    """Builds a trial with a batch of images, for a network in which each layer matters."""

    make: Maker
    image: T

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = networks.alive(self.make, seed)
        generator = torch.Generator().manual_seed(seed + 1)
        given = arguments((self.image,), generator, torch.float64)
        return Trial(args=(model,), model=model, inputs=(given,))


def squeezenet() -> nn.Module:
    """Torchvision's SqueezeNet 1.1 with four classes."""
    import torchvision

    return torchvision.models.squeezenet1_1(num_classes=4)
