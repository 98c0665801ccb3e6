"""Answers for `WitnessReluRule`."""

from __future__ import annotations

import math

import torch
from torch import fx, nn
from torch.nn import functional as F

from tests.exercises import right, wrong

INF, NAN = math.inf, math.nan


class Model(nn.Module):
    """A model with minus infinity in its inputs, for most answers."""

    inputs = (torch.tensor([-INF, 1.0]),)


@right("minus infinity as input")
class Input(nn.Module):
    inputs = (torch.tensor([-math.inf, 1.0]),)

    def forward(self, x):
        return torch.relu(x)


@right("the logarithm of zero", debrief=True)
class Logarithm(nn.Module):
    inputs = (torch.tensor([0.0, 1.0]),)

    def forward(self, x):
        return torch.relu(torch.log(x))


@right("a mask of minus infinities, as in attention")
class Mask(nn.Module):
    inputs = (torch.eye(3),)

    def forward(self, scores):
        return torch.relu(input=scores.masked_fill(torch.eye(3) > 0, -INF))


@right("too large for its dtype")
class Overflow(nn.Module):
    inputs = (torch.tensor([-60000.0], dtype=torch.float16),)

    def forward(self, x):
        return torch.relu(x * 2)


@right("the sign of the zero, which a quotient shows")
class SignOfZero(nn.Module):
    inputs = (torch.tensor([-3.0]),)

    def forward(self, x):
        return 1 / torch.relu(x)


@right("a buffer, and a number besides")
class Buffer(nn.Module):
    inputs = (2,)

    def __init__(self):
        super().__init__()
        self.register_buffer("low", torch.tensor([[-INF]], dtype=torch.float64))

    def forward(self, n):
        return torch.relu(self.low + n), n


# ------------------------------------------------------------------ the suspect is right


@wrong("NaN", "no-witness-yet", clause="nan")
class NotANumber(Model):
    inputs = (torch.tensor([NAN]),)

    def forward(self, x):
        return torch.relu(x)


@wrong("plus infinity", "no-witness-yet", clause="nan")
class Plus(Model):
    inputs = (torch.tensor([INF]),)

    def forward(self, x):
        return torch.relu(x)


@wrong("minus zero", "no-witness-yet", clause="zero")
class MinusZero(Model):
    inputs = (torch.tensor([-0.0]),)

    def forward(self, x):
        return torch.relu(x)


@wrong("ordinary numbers", "no-witness-yet", clause="suspect-wrong")
class Ordinary(nn.Module):
    inputs = (torch.linspace(-1e30, 1e30, 7),)

    def forward(self, x):
        return torch.relu(x)


@wrong("another spelling, which the suspect leaves alone", "no-witness-yet", clause="spelling")
class Spelling(Model):
    def forward(self, x):
        return F.relu(x)


@wrong("what differs is thrown away", "no-witness-yet", clause="seen")
class Unseen(Model):
    def forward(self, x):
        return torch.relu(x)[1]


# ------------------------------------------------------------------ the task, and its form


@wrong("three calls", "too-large", clause="size")
class Large(Model):
    def forward(self, x):
        return torch.relu(x).abs().abs()


@wrong("only under one seed", "no-witness-yet", clause="every-seed")
class OneSeed(Model):
    def __init__(self):
        super().__init__()
        self.low = -INF if torch.initial_seed() == 0 else -1.0

    def forward(self, x):
        return torch.relu(torch.full_like(x, self.low))


@wrong("ReLU of complex numbers fails", "model-fails", clause="fails")
class Complex(nn.Module):
    inputs = (torch.tensor([-INF + 1j]),)

    def forward(self, x):
        return torch.relu(x)


@wrong("tells a trace from a run", "not-the-same", clause="trace-agrees")
class Tells(Model):
    def forward(self, x):
        return torch.relu(x) if isinstance(x, fx.Proxy) else x


@wrong("inputs as a list", "wrong-kind", clause="inputs")
class Listed(nn.Module):
    inputs = [torch.tensor([-INF])]  # noqa: RUF012

    def forward(self, x):
        return torch.relu(x)
