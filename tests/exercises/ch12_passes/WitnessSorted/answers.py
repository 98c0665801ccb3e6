"""Answers for `WitnessSorted`."""

from __future__ import annotations

import torch
from torch import fx, nn

from tests.exercises import right, wrong


class Model(nn.Module):
    """A model with one input, for most answers."""

    inputs = (torch.tensor([-1.0, 2.0]),)


@right("a product behind a sum in place", debrief=True)
class Product(Model):
    def forward(self, x):
        x.add_(1)
        return x * 2


@right("returned before it is written")
class Late(nn.Module):
    inputs = (torch.zeros(2), torch.ones(2))

    def forward(self, x, y):
        x.add_(y)
        return x


@right("through a view, as PyTorch's issue has it")
class View(Model):
    def forward(self, x):
        y = x.view(-1)
        y.add_(1)
        return x * 2


@right("a layer in place, and a sum")
class Layer(Model):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        self.relu(x)
        return {"sum": x + 1}


@right("an argument that nothing else reads")
class Other(nn.Module):
    inputs = (torch.ones(2), torch.full((2,), 3.0))

    def forward(self, x, y):
        y.relu_().neg_()
        return x - y


@right("random numbers in another order")
class Random(nn.Module):
    inputs = (torch.full((8,), 0.5),)

    def forward(self, x):
        y = x.view(-1).bernoulli()
        return torch.randn_like(x), y


@right("a buffer that is written")
class Buffer(Model):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.randn(2))

    def forward(self, x):
        self.scale.copy_(x)
        return x * self.scale


# ------------------------------------------------------------------ the suspect is right


@wrong("nothing in place", "no-witness-yet", clause="suspect-wrong")
class Pure(Model):
    def forward(self, x):
        return torch.exp(x) * 2 + x


@wrong("a method behind the method in place", "no-witness-yet", clause="suspect-wrong")
class Method(Model):
    def forward(self, x):
        x.add_(1)
        return x.exp()


@wrong("the product reads what was made in place", "no-witness-yet", clause="suspect-wrong")
class Edge(Model):
    def forward(self, x):
        return x.add_(1) * 2


@wrong("the product comes first", "no-witness-yet", clause="suspect-wrong")
class First(Model):
    def forward(self, x):
        y = x * 2
        x.add_(1)
        return y


@wrong("what differs is in neither result nor arguments", "no-witness-yet", clause="seen")
class Unseen(Model):
    def forward(self, x):
        y = x.clone()
        y.add_(1)
        return x, (y * 2).shape


# ------------------------------------------------------------------ the task, and its form


@wrong("four calls", "too-large", clause="size")
class Large(Model):
    def forward(self, x):
        x.add_(1)
        return (x * 2).exp().neg()


@wrong("only under one seed", "no-witness-yet", clause="every-seed")
class OneSeed(Model):
    def __init__(self):
        super().__init__()
        self.much = 1 if torch.initial_seed() == 0 else 0

    def forward(self, x):
        x.add_(self.much)
        return x * 2


@wrong("shapes that do not fit", "model-fails", clause="fails")
class Fails(Model):
    def forward(self, x):
        x.add_(torch.ones(3))
        return x * 2


@wrong("in place only in a trace", "not-the-same", clause="trace-agrees")
class Tells(Model):
    def forward(self, x):
        if isinstance(x, fx.Proxy):
            x.add_(1)
        return x * 2


@wrong("no inputs", "wrong-kind", clause="inputs")
class NoInputs(nn.Module):
    def forward(self, x):
        x.add_(1)
        return x * 2
