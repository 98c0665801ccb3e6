"""Answers for `WitnessSplit`."""

from __future__ import annotations

import torch
from torch import fx, nn
from torch.nn import functional as F

from tests.exercises import right, wrong


class Model(nn.Module):
    """A model with one input, for most answers."""

    inputs = (torch.tensor([-1.0, 2.0]),)


@right("a method in place, then a function", debrief=True)
class Function(Model):
    def forward(self, x):
        x.add_(1)
        return torch.exp(x)


@right("a function in place, then a method")
class InPlaceFunction(nn.Module):
    inputs = (torch.tensor([-1.0, 2.0]), torch.zeros(1))

    def forward(self, x, y):
        torch.relu_(x)
        return x.exp()


@right("a layer, between two that are in place")
class Layer(Model):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        x.mul_(3)
        return [self.linear(x)]


@right("a layer that works in place, in a submodule")
class InnerLayer(Model):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.ReLU(inplace=True))

    def forward(self, x):
        self.block(x)
        return x.sum()


@right("through a view")
class View(Model):
    def forward(self, x):
        y = x[0]
        y.zero_()
        return {"x": torch.add(x, 1)}


@right("random numbers in another order")
class Random(nn.Module):
    inputs = (torch.full((8,), 0.5),)

    def forward(self, x):
        return x.bernoulli(), torch.rand_like(x)


@right("a buffer that is written")
class Buffer(Model):
    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(2))

    def forward(self, x):
        self.sum.add_(x)
        return torch.sub(x, self.sum)


# ------------------------------------------------------------------ the suspect is right


@wrong("nothing in place", "no-witness-yet", clause="suspect-wrong")
class Pure(Model):
    def forward(self, x):
        return torch.exp(x), x.sin()


@wrong("one kind alone", "no-witness-yet", clause="two-kinds")
class OneKind(Model):
    def forward(self, x):
        x.add_(1)
        return x.exp()


@wrong("the function reads what the method gave", "no-witness-yet", clause="no-edge")
class Edge(Model):
    def forward(self, x):
        return torch.exp(x.add_(1))


@wrong("pieces that wait for each other", "no-witness-yet", clause="circle")
class Circle(Model):
    def forward(self, x):
        y = torch.exp(x)
        y.add_(1)
        return torch.sin(x.neg()).relu()


@wrong("another memory", "no-witness-yet", clause="suspect-wrong")
class Else(nn.Module):
    inputs = (torch.ones(2), torch.ones(2))

    def forward(self, x, y):
        x.add_(1)
        return torch.exp(y)


@wrong("what differs is in neither result nor arguments", "no-witness-yet", clause="seen")
class Unseen(Model):
    def forward(self, x):
        y = x.clone()
        y.add_(1)
        return x, F.relu(y) is None


# ------------------------------------------------------------------ the task, and its form


@wrong("four calls", "too-large", clause="size")
class Large(Model):
    def forward(self, x):
        x.add_(1)
        x.mul_(2)
        return torch.exp(torch.sin(x))


@wrong("only under one seed", "no-witness-yet", clause="every-seed")
class OneSeed(Model):
    def __init__(self):
        super().__init__()
        self.much = 1 if torch.initial_seed() == 0 else 0

    def forward(self, x):
        x.add_(self.much)
        return torch.exp(x)


@wrong("shapes that do not fit", "model-fails", clause="fails")
class Fails(Model):
    def forward(self, x):
        x.view(3)
        return torch.exp(x)


@wrong("in place only in a trace", "not-the-same", clause="trace-agrees")
class Tells(Model):
    def forward(self, x):
        if isinstance(x, fx.Proxy):
            x.add_(1)
        return torch.exp(x)


@wrong("no inputs", "wrong-kind", clause="inputs")
class NoInputs(nn.Module):
    def forward(self, x):
        x.add_(1)
        return torch.exp(x)
