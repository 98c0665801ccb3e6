"""Answers for `WitnessPlusZero`."""

from __future__ import annotations

import torch
from torch import fx, nn

from tests.exercises import right, wrong

INTEGERS = torch.tensor([1, 2])


class Model(nn.Module):
    """A model with one input, for most answers."""

    inputs = (torch.tensor([-1.0, 2.0]),)


@right("integers and a float")
class Integers(nn.Module):
    inputs = (torch.tensor([1, 2]),)

    def forward(self, x):
        return x + 0.0


@right("booleans times one")
class Booleans(nn.Module):
    inputs = (torch.tensor([True, False]),)

    def forward(self, x):
        return x * 1


@right("the other way round, by a function")
class Reversed(nn.Module):
    inputs = ([torch.tensor([1, 2], dtype=torch.int8)],)

    def forward(self, xs):
        return torch.mul(1.0, xs[0])


@right("in place on the difference", debrief=True)
class OnTheSum(Model):
    def forward(self, x):
        copy = x - 0
        copy.mul_(2)
        return x


@right("in place on the tensor itself, of noise")
class OnTheTensor(nn.Module):
    inputs = (torch.zeros(3),)

    def forward(self, x):
        kept = 0 + x
        x.copy_(torch.rand_like(x))
        return kept


@right("only the argument tells")
class Argument(Model):
    def forward(self, x):
        return (x * 1).neg_()


@right("the sign of a zero")
class SignOfZero(nn.Module):
    inputs = (torch.tensor([-0.0]),)

    def forward(self, x):
        return 1 / (x + 0)


# ------------------------------------------------------------------ the suspect is right


@wrong("floating point plus an integer", "no-witness-yet", clause="suspect-wrong")
class Floating(Model):
    def forward(self, x):
        return x + 0


@wrong("integers plus an integer", "no-witness-yet", clause="dtype")
class SameDtype(nn.Module):
    inputs = (INTEGERS,)

    def forward(self, x):
        return x + 0


@wrong("the dtype is restored", "no-witness-yet", clause="seen")
class Restored(nn.Module):
    inputs = (INTEGERS,)

    def forward(self, x):
        return (x + 0.0).to(torch.int64)


@wrong("in place on neither", "no-witness-yet", clause="alias")
class OnNeither(Model):
    def forward(self, x):
        y = x + 0
        y.clone().mul_(2)
        return y


@wrong("a quotient by one, which is not in the task", "no-witness-yet", clause="forms")
class Quotient(nn.Module):
    inputs = (INTEGERS,)

    def forward(self, x):
        return x / 1


# ------------------------------------------------------------------ the task, and its form


@wrong("four calls", "too-large", clause="size")
class Large(nn.Module):
    inputs = (INTEGERS,)

    def forward(self, x):
        return ((x + 0.0) * 2 - 1).abs()


@wrong("only under one seed", "no-witness-yet", clause="every-seed")
class OneSeed(nn.Module):
    inputs = (INTEGERS,)

    def __init__(self):
        super().__init__()
        self.zero = 0.0 if torch.initial_seed() == 1 else 0

    def forward(self, x):
        return x + self.zero


@wrong("two shapes that do not fit", "model-fails", clause="fails")
class Shapes(nn.Module):
    inputs = (torch.ones(2), torch.ones(3))

    def forward(self, x, y):
        return x + y + 0


@wrong("another zero for a trace", "not-the-same", clause="trace-agrees")
class Tells(nn.Module):
    inputs = (INTEGERS,)

    def forward(self, x):
        return x + (0.0 if isinstance(x, fx.Proxy) else 0)


@wrong("the inputs are one tensor", "wrong-kind", clause="inputs")
class OneTensor(nn.Module):
    inputs = INTEGERS

    def forward(self, x):
        return x + 0.0
