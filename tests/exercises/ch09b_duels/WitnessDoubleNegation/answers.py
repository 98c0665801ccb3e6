"""Answers for `WitnessDoubleNegation`."""

from __future__ import annotations

import operator

import torch
from torch import fx, nn
from torch.nn import functional as F

from tests.exercises import right, wrong


class Model(nn.Module):
    """A model with one input, for most answers."""

    inputs = (torch.tensor([-1.0, 2.0]),)


def twice(x):
    return torch.neg(torch.neg(x))


@right("in place on the result, the input is returned")
class OnTheResult(Model):
    def forward(self, x):
        twice(x).add_(1)
        return x


@right("in place on the input afterwards", debrief=True)
class OnTheInput(nn.Module):
    inputs = (torch.tensor([-1.0, 2.0]),)

    def forward(self, x):
        kept = torch.neg(torch.neg(x))
        x.zero_()
        return kept


@right("only the argument tells, by a layer in place")
class Layer(Model):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(twice(x))


@right("by a keyword, in a submodule")
class Keyword(nn.Module):
    inputs = ([torch.tensor([-1.0])],)

    class Inner(nn.Module):
        def forward(self, x):
            return F.relu(torch.neg(torch.neg(x)), inplace=True)

    def __init__(self):
        super().__init__()
        self.inner = self.Inner()

    def forward(self, xs):
        return self.inner(xs[0])


@right("into the memory of the input")
class Out(nn.Module):
    inputs = (torch.ones(3),)

    def forward(self, x):
        y = twice(x)
        torch.sub(x, 5, out=x)
        return y, x


@right("copied over, with a parameter drawn for each seed")
class Copied(Model):
    def __init__(self):
        super().__init__()
        self.noise = nn.Parameter(torch.randn(2))

    def forward(self, x):
        y = twice(x)
        x.copy_(self.noise)
        return y


# ------------------------------------------------------------------ the suspect is right


@wrong("two signs, and nothing in place", "no-witness-yet", clause="suspect-wrong")
class Plain(Model):
    def forward(self, x):
        return twice(x)


@wrong("in place on something else", "no-witness-yet", clause="alias")
class Else(Model):
    def forward(self, x):
        return twice(x), x.clone().add_(1)


@wrong("in place before", "no-witness-yet", clause="afterwards")
class Before(Model):
    def forward(self, x):
        x.add_(1)
        return twice(x)


@wrong("the operator, which the pattern does not match", "no-witness-yet", clause="spelling")
class Operator(Model):
    def forward(self, x):
        operator.neg(operator.neg(x)).add_(1)
        return x


@wrong("the method, which the pattern does not match", "no-witness-yet", clause="spelling")
class Method(Model):
    def forward(self, x):
        x.neg().neg().add_(1)
        return x


@wrong("what is between is read, too", "no-witness-yet", clause="between")
class Between(Model):
    def forward(self, x):
        minus = torch.neg(x)
        torch.neg(minus).add_(1)
        return x, minus


@wrong("the changed value is all that there is", "no-witness-yet", clause="seen")
class ItselfOnly(Model):
    def forward(self, x):
        return twice(x.abs()).add_(1)


# ------------------------------------------------------------------ the task, and its form


@wrong("five calls", "too-large", clause="size")
class Large(Model):
    def forward(self, x):
        twice(x).add_(1)
        return x.abs() + 1


@wrong("only under one seed", "no-witness-yet", clause="every-seed")
class OneSeed(Model):
    def __init__(self):
        super().__init__()
        self.amount = int(torch.initial_seed() == 2)

    def forward(self, x):
        twice(x).add_(self.amount)
        return x


@wrong("negation of booleans fails", "model-fails", clause="fails")
class Booleans(nn.Module):
    inputs = (torch.tensor([True]),)

    def forward(self, x):
        twice(x).add_(1)
        return x


@wrong("in place only in a trace", "not-the-same", clause="trace-agrees")
class Tells(Model):
    def forward(self, x):
        y = twice(x)
        if isinstance(x, fx.Proxy):
            x.zero_()
        return y


@wrong("inputs that are made for each object", "wrong-kind", clause="inputs")
class OwnInputs(nn.Module):
    @property
    def inputs(self):
        return (torch.ones(2),)

    def forward(self, x):
        twice(x).add_(1)
        return x
