"""Answers for `WitnessByName`."""

from __future__ import annotations

import random

import torch
from torch import fx, nn
from torch.nn import functional as F

from tests.exercises import right, wrong

X = torch.tensor([-1.0, 2.0, 9.0])


class Model(nn.Module):
    """A model with inputs, for most answers."""

    inputs = (X,)


@right("relu6", debrief=True)
class Relu6(nn.Module):
    inputs = (torch.tensor([-1.0, 2.0, 9.0]),)

    def forward(self, x):
        return F.relu6(x)


@right("relu_ of torch")
class InPlace(Model):
    def forward(self, x):
        return torch.relu_(x)


@right("the effect alone shows it")
class Effect(Model):
    def forward(self, x):
        F.relu_(x)
        return x


@right("beside a relu that is meant")
class Both(Model):
    def forward(self, x, scale=2.0):
        return torch.relu(x), F.relu6(input=x)


@right("drawn for each seed, two inputs, in a method of its own")
class Drawn(nn.Module):
    inputs = (torch.randn(2, 3, generator=torch.Generator().manual_seed(1)), 3)

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))

    def act(self, x):
        return F.relu6(x)

    def forward(self, x, times):
        return self.act(self.weight + x)


@right("in a submodule, with a dictionary as input")
class Nested(nn.Module):
    inputs = ({"x": X, "y": [X]},)

    def __init__(self):
        super().__init__()
        self.inner = Relu6()

    def forward(self, given):
        return {"a": (self.inner(given["x"]), None)}


# ------------------------------------------------------------------ the suspect is right


@wrong("torch.relu is what is meant", "no-witness-yet", clause="suspect-wrong")
class Meant(Model):
    def forward(self, x):
        return torch.relu(x)


@wrong("a method of that name is left alone", "no-witness-yet", clause="suspect-wrong")
class Method(Model):
    def forward(self, x):
        return x.relu()


@wrong("the inputs do not show it", "no-witness-yet", clause="inputs-show")
class Hidden(Model):
    inputs = (torch.tensor([40.0, 50.0]),)

    def forward(self, x):
        return F.relu6(x) * 0 + 6


# ------------------------------------------------------------------ the task, and its form


@wrong("in place, which the task does not say", "outside-the-task", clause="inside")
class Outside(Model):
    def forward(self, x):
        F.relu(x, inplace=True)
        return x, F.relu6(x)


@wrong("three calls", "too-large", clause="size")
class Large(Model):
    def forward(self, x):
        return F.relu6(x + 1).abs()


@wrong("only under one seed", "no-witness-yet", clause="every-seed")
class OneSeed(Model):
    def __init__(self):
        super().__init__()
        self.lucky = torch.initial_seed() == 0

    def forward(self, x):
        return F.relu6(x) if self.lucky else torch.relu(x)


@wrong("cannot be traced", "model-fails", clause="fails")
class Untraceable(Model):
    def forward(self, x):
        return F.relu6(x) if x.sum() > 0 else x


@wrong("fails for its own inputs", "model-fails", clause="fails")
class Fails(Model):
    def forward(self, x):
        return F.relu6(x).view(2, 2)


@wrong("takes an argument to be made", "model-fails", clause="module")
class NeedsArgument(Model):
    def __init__(self, size):
        super().__init__()

    def forward(self, x):
        return F.relu6(x)


@wrong("tells a trace from a run", "not-the-same", clause="trace-agrees")
class Tells(Model):
    def forward(self, x):
        return F.relu6(x) if isinstance(x, fx.Proxy) else torch.relu(x)


@wrong("asks Python for a random number", "not-the-same", clause="every-time")
class Draws(Model):
    def forward(self, x):
        return F.relu6(x) + random.random()


@wrong("no inputs", "wrong-kind", clause="inputs")
class NoInputs(nn.Module):
    def forward(self, x):
        return F.relu6(x)


@wrong("no model", "wrong-kind", clause="module")
class NoModel:
    inputs = (X,)

    def forward(self, x):
        return F.relu6(x)


@fx.wrap
def relu_of_mine(x):
    return x.clamp(min=0) + 1


@wrong("calls a function of its own", "own-code", clause="torch-only")
class OwnFunction(Model):
    def forward(self, x):
        return relu_of_mine(x)


@wrong("a layer in training mode", "no-witness-yet", clause="eval")
class Training(Model):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.9)

    def train(self, mode=True):
        return super().train(True)

    def forward(self, x):
        return torch.relu(x) if not self.training else F.relu6(x)
