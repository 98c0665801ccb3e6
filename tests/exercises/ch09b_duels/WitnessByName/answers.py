"""Answers for `WitnessByName`."""

from __future__ import annotations

import math
import random
import types

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


@wrong("F.relu is meant, too", "no-witness-yet")
class MeantToo(Model):
    def forward(self, x):
        return F.relu(x)


@wrong("a method of that name is left alone", "no-witness-yet")
class Method(Model):
    def forward(self, x):
        return x.relu()


@wrong("a layer of that name is left alone", "no-witness-yet")
class Layer(Model):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU6()

    def forward(self, x):
        return self.relu(x)


@wrong("a name that holds relu, and does not begin with it", "no-witness-yet")
class Leaky(Model):
    def forward(self, x):
        return F.leaky_relu(x)


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


@wrong("fails for its own inputs", "model-fails", clause="fails-itself")
class Fails(Model):
    def forward(self, x):
        return F.relu6(x).view(2, 2)


@wrong("takes an argument to be made", "model-fails")
class NeedsArgument(Model):
    def __init__(self, size):
        super().__init__()

    def forward(self, x):
        return F.relu6(x)


@wrong("tells a trace from a run", "not-the-same", clause="trace-agrees")
class Tells(Model):
    def forward(self, x):
        return F.relu6(x) if isinstance(x, fx.Proxy) else torch.relu(x)


@wrong("counts its calls", "not-the-same")
class Counts(Model):
    calls = 0

    def forward(self, x):
        type(self).calls += 1
        return F.relu6(x) + type(self).calls


@wrong("asks Python for a random number", "not-the-same", clause="every-time")
class Draws(Model):
    def forward(self, x):
        return F.relu6(x) + random.random()


@wrong("no inputs", "wrong-kind", clause="inputs")
class NoInputs(nn.Module):
    def forward(self, x):
        return F.relu6(x)


@wrong("one tensor in place of a tuple", "wrong-kind")
class NoTuple(nn.Module):
    inputs = X

    def forward(self, x):
        return F.relu6(x)


@wrong("no argument at all", "wrong-kind")
class Empty(nn.Module):
    inputs = ()

    def forward(self):
        return F.relu6(torch.ones(1))


@wrong("inputs of each object, not of the class", "wrong-kind")
class OwnInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.inputs = (X,)

    def forward(self, x):
        return F.relu6(x)


@wrong("inputs that have no plain form", "wrong-kind")
class OddInputs(nn.Module):
    inputs = (X, types.SimpleNamespace())

    def forward(self, x, options):
        return F.relu6(x)


@wrong("inputs of a million numbers", "wrong-kind")
class LargeInputs(nn.Module):
    inputs = (torch.ones(1_000_000),)

    def forward(self, x):
        return F.relu6(x)


@wrong("no model", "wrong-kind")
class NoModel:
    inputs = (X,)

    def forward(self, x):
        return F.relu6(x)


wrong("an object in place of the class", "wrong-kind")(
    type(
        "Made", (), {"__module__": __name__, "__call__": lambda self, x: F.relu6(x), "inputs": (X,)}
    )()
)


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


@wrong("infinity stays what it is", "no-witness-yet")
class Infinite(Model):
    inputs = (torch.tensor([math.inf]),)

    def forward(self, x):
        return F.relu(x)
