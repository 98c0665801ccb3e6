"""Answers for `WitnessSelfLoop`."""

from __future__ import annotations

import operator

import torch
from torch import fx, nn

from tests.exercises import right, wrong


class Model(nn.Module):
    """Base class of most answers: one input."""

    inputs = (torch.tensor([-1.0, 2.0]),)


@right("one sum")
class Sum(Model):
    def forward(self, x):
        return torch.add(x, 1)


@right("a sum by keywords, read twice", debrief=True)
class Keywords(nn.Module):
    inputs = (torch.tensor([-1.0]), torch.tensor([3.0]))

    def forward(self, x, y):
        total = torch.add(input=x, other=y, alpha=2)
        return total * total


@right("a sum that nobody reads")
class Unread(Model):
    def forward(self, x):
        torch.add(x, x)
        return x


@right("into given memory, with a parameter drawn for each seed")
class Out(nn.Module):
    inputs = ([torch.zeros(2)],)

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2))

    def forward(self, xs):
        return torch.add(xs[0], self.weight, out=torch.zeros(2))


@right("in a submodule, called with a default")
class Nested(nn.Module):
    inputs = (torch.arange(3),)

    def __init__(self):
        super().__init__()
        self.inner = Sum()

    def forward(self, x, scale=2):
        return {"sum": self.inner(x), "scale": scale}


# ------------------------------------------------------------------ the suspect is right


@wrong("the operator", "no-witness-yet", clause="operator")
class Operator(Model):
    def forward(self, x):
        return x + 1


@wrong("the method", "no-witness-yet", clause="operator")
class Method(Model):
    def forward(self, x):
        return x.add(1)


@wrong("a difference", "no-witness-yet", clause="suspect-wrong")
class Difference(Model):
    def forward(self, x):
        return torch.sub(x, -1)


@wrong("a sum of buffers, which is computed while tracing", "no-witness-yet", clause="traced")
class Buffers(Model):
    def __init__(self):
        super().__init__()
        self.register_buffer("one", torch.ones(2))

    def forward(self, x):
        return x * torch.add(self.one, self.one)


# ------------------------------------------------------------------ the task, and its form


@wrong("three calls", "too-large", clause="size")
class Large(Model):
    def forward(self, x):
        return torch.add(x, 1).abs().exp()


@wrong("only under one seed", "no-witness-yet", clause="every-seed")
class OneSeed(Model):
    def __init__(self):
        super().__init__()
        self.function = torch.add if torch.initial_seed() == 1 else operator.add

    def forward(self, x):
        return self.function(x, 1)


@wrong("shapes that do not fit", "model-fails", clause="fails")
class Shapes(nn.Module):
    inputs = (torch.ones(2), torch.ones(3))

    def forward(self, x, y):
        return torch.add(x, y)


@wrong("another sum for a trace", "not-the-same", clause="trace-agrees")
class Tells(Model):
    def forward(self, x):
        return torch.add(x, 2) if isinstance(x, fx.Proxy) else torch.add(x, 1)


@wrong("no inputs", "wrong-kind", clause="inputs")
class NoInputs(nn.Module):
    def forward(self, x):
        return torch.add(x, 1)
