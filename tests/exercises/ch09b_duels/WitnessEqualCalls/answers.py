"""Answers for `WitnessEqualCalls`."""

from __future__ import annotations

import torch
from torch import fx, nn
from torch.nn import functional as F

from tests.exercises import right, wrong

INTEGERS = torch.tensor([1, 2])


class Model(nn.Module):
    """A model with one input, for most answers."""

    inputs = (torch.tensor([-1.0, 2.0]),)


@right("noise twice")
class Noise(Model):
    def forward(self, x):
        return torch.rand_like(x), torch.rand_like(x)


@right("dropout twice, as a function")
class Dropout(nn.Module):
    inputs = (torch.ones(64),)

    def forward(self, x):
        return F.dropout(x) - F.dropout(x)


@right("in place between the two", debrief=True)
class Between(nn.Module):
    inputs = (torch.tensor([-1.0, 2.0]),)

    def forward(self, x):
        before = x.exp()
        x.add_(1)
        return before, x.exp()


@right("the same call in place, twice")
class TwiceInPlace(Model):
    def forward(self, x):
        x.add_(1)
        x.add_(1)
        return x


@right("one, and one point zero")
class IntegersAndFloats(nn.Module):
    inputs = (INTEGERS,)

    def forward(self, x):
        return x + 1, x + 1.0


@right("zeros of both signs, to a layer")
class Zeros(nn.Module):
    inputs = (torch.tensor([3.0]),)

    def forward(self, x):
        return [torch.copysign(x, 0.0), torch.copysign(x, -0.0)]


@right("a new tensor each, and one of them is changed")
class NewTensors(Model):
    def forward(self, x):
        a, b = x + 1, x + 1
        a.zero_()
        return b


@right("a truth value for a one, with a parameter drawn for each seed")
class Truth(nn.Module):
    inputs = (torch.tensor([True, False]),)

    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.randn(2))

    def forward(self, x):
        return {"one": x * 1, "true": x * True, "shift": self.shift}


# ------------------------------------------------------------------ the suspect is right


@wrong("equal calls of a function", "no-witness-yet", clause="suspect-wrong")
class Equal(Model):
    def forward(self, x):
        return torch.exp(x), torch.exp(x)


@wrong("one and one point zero, on floating point", "no-witness-yet", clause="equal-numbers")
class Floats(Model):
    def forward(self, x):
        return x + 1, x + 1.0


@wrong("noise once", "no-witness-yet", clause="two-calls")
class Once(Model):
    def forward(self, x):
        return torch.rand_like(x)


@wrong("dropout in eval mode", "no-witness-yet", clause="eval")
class Layer(Model):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(x), self.drop(x)


@wrong("in place before both", "no-witness-yet", clause="between")
class Before(Model):
    def forward(self, x):
        x.add_(1)
        return x.exp(), x.exp()


@wrong("what differs is in neither result nor arguments", "no-witness-yet", clause="seen")
class Unseen(Model):
    def forward(self, x):
        torch.rand_like(x)
        torch.rand_like(x)
        return x


# ------------------------------------------------------------------ the task, and its form


@wrong("four calls", "too-large", clause="size")
class Large(Model):
    def forward(self, x):
        return (torch.rand_like(x) - torch.rand_like(x)).abs()


@wrong("only under one seed", "no-witness-yet", clause="every-seed")
class OneSeed(Model):
    def __init__(self):
        super().__init__()
        self.p = 0.9 if torch.initial_seed() == 0 else 0.0

    def forward(self, x):
        return F.dropout(x, self.p), F.dropout(x, self.p)


@wrong("noise of another shape than it has", "model-fails", clause="fails")
class Fails(Model):
    def forward(self, x):
        return torch.rand_like(x) + torch.rand_like(x).view(3)


@wrong("noise only in a trace", "not-the-same", clause="trace-agrees")
class Tells(Model):
    def forward(self, x):
        if not isinstance(x, fx.Proxy):
            return x, x
        return torch.rand_like(x), torch.rand_like(x)


@wrong("no inputs", "wrong-kind", clause="inputs")
class NoInputs(nn.Module):
    def forward(self, x):
        return torch.rand_like(x), torch.rand_like(x)
