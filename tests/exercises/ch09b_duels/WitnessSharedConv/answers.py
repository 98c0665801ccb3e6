"""Answers for `WitnessSharedConv`."""

from __future__ import annotations

import torch
from torch import fx, nn

from tests.exercises import right, wrong


def norm(kind=nn.BatchNorm1d, channels=2, **options):
    """A BatchNorm that changes its input."""
    made = kind(channels, **options)
    made.running_mean.fill_(0.5)
    made.running_var.fill_(4.0)
    return made


class Model(nn.Module):
    """A model with a convolution and a BatchNorm that changes its input, for most answers."""

    inputs = (torch.linspace(-1, 1, 16).view(1, 2, 8),)

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 2, 1)
        self.norm = norm()


@right("a convolution called twice")
class Twice(Model):
    def forward(self, x):
        return self.norm(self.conv(x)) + self.conv(x)


@right("a norm behind each of two calls")
class TwoNorms(Model):
    def __init__(self):
        super().__init__()
        self.other = norm()

    def forward(self, x):
        return self.norm(self.conv(x)), self.other(self.conv(x))


@right("one convolution under two names, in two dimensions", debrief=True)
class TwoNames(nn.Module):
    inputs = (torch.arange(9.0).view(1, 1, 3, 3),)

    def __init__(self):
        super().__init__()
        self.conv = self.same = nn.Conv2d(1, 1, 2)
        self.norm = nn.BatchNorm2d(1)
        self.norm.running_var.fill_(4.0)

    def forward(self, x):
        return self.norm(self.conv(x)), self.same(x)


@right("the weight is read")
class Weight(Model):
    def forward(self, x):
        return self.norm(self.conv(x)), x.sum() + self.conv.weight


@right("a linear layer, and a norm without weights")
class Linear(nn.Module):
    inputs = (torch.ones(4, 3),)

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.norm = nn.BatchNorm1d(2, affine=False)

    def forward(self, x):
        return self.norm(self.linear(x))


@right("a linear layer called twice, in a Sequential")
class LinearTwice(nn.Module):
    inputs = (torch.ones(2, 2),)

    def __init__(self):
        super().__init__()
        layer = nn.Linear(2, 2)
        self.layers = nn.Sequential(layer, norm(), layer)

    def forward(self, x):
        return self.layers(x)


# ------------------------------------------------------------------ the suspect is right


@wrong("a convolution and a norm", "no-witness-yet", clause="suspect-wrong")
class Plain(Model):
    def forward(self, x):
        return self.norm(self.conv(x))


@wrong("two readers of the value", "no-witness-yet", clause="two-readers")
class TwoReaders(Model):
    def forward(self, x):
        y = self.conv(x)
        return self.norm(y), y


@wrong("a norm without statistics", "no-witness-yet", clause="new-norm")
class NoStatistics(Model):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2, track_running_stats=False)

    def forward(self, x):
        return self.norm(self.conv(x)), self.conv(x)


@wrong("a convolution, and a norm without weights", "no-witness-yet", clause="suspect-wrong")
class NoWeights(Model):
    def __init__(self):
        super().__init__()
        self.norm = norm(affine=False)

    def forward(self, x):
        return self.norm(self.conv(x))


@wrong("a new norm changes hardly anything", "no-witness-yet", clause="new-norm")
class NewNorm(Model):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.norm(self.conv(x)), self.conv(x)


@wrong("two convolutions that only look alike", "no-witness-yet", clause="shared")
class TwoConvs(Model):
    def __init__(self):
        super().__init__()
        self.other = nn.Conv1d(2, 2, 1)
        self.other.load_state_dict(self.conv.state_dict())

    def forward(self, x):
        return self.norm(self.conv(x)), self.other(x)


@wrong("a transposed convolution, which it leaves alone", "no-witness-yet", clause="kinds")
class Transposed(Model):
    def __init__(self):
        super().__init__()
        self.conv = nn.ConvTranspose1d(2, 2, 1)

    def forward(self, x):
        return self.norm(self.conv(x)), self.conv(x)


# ------------------------------------------------------------------ the task, and its form


@wrong("rounding, which no fusion avoids", "outside-the-task", clause="inside")
class Rounding(Model):
    inputs = (torch.full((1, 2, 8), 1e6),)

    def __init__(self):
        super().__init__()
        with torch.no_grad():
            self.norm.running_mean.copy_(self.conv(self.inputs[0])[0, :, 0])

    def forward(self, x):
        return self.norm(self.conv(x))


@wrong("five calls", "too-large", clause="size")
class Large(Model):
    def forward(self, x):
        return (self.norm(self.conv(x)) + self.conv(x)).abs()


@wrong("only under one seed", "no-witness-yet", clause="every-seed")
class OneSeed(Model):
    def __init__(self):
        super().__init__()
        if torch.initial_seed():
            self.norm = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.norm(self.conv(x)), self.conv(x)


@wrong("channels that do not fit", "model-fails", clause="fails")
class Channels(Model):
    def __init__(self):
        super().__init__()
        self.norm = norm(channels=3)

    def forward(self, x):
        return self.norm(self.conv(x)), self.conv(x)


@wrong("called twice only in a trace", "not-the-same", clause="trace-agrees")
class Tells(Model):
    def forward(self, x):
        y = self.norm(self.conv(x))
        return (y, self.conv(x)) if isinstance(x, fx.Proxy) else (y, y)


@wrong("inputs as a dictionary", "wrong-kind", clause="inputs")
class Dictionary(Model):
    inputs = {"x": torch.ones(1, 2, 8)}  # noqa: RUF012

    def forward(self, x):
        return self.norm(self.conv(x)), self.conv(x)
