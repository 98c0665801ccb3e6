"""Models for `relu_to_gelu_backend`: ReLU in every spelling, and similar functions."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises.ch11_pytorch2.models import ByHand, Run


class OneRelu(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2


class WrittenLater(nn.Module):
    """A call that changes its input, and whose result is not read."""

    def forward(self, x):
        y = torch.relu(x)
        y.mul_(3)
        return y


class Functions(nn.Module):
    def forward(self, x):
        return F.relu(torch.relu(x) - 0.3) + F.relu(input=x + 1)


class Method(nn.Module):
    def forward(self, x):
        return (x - 1).relu().sum(dim=-1)


class InPlace(nn.Module):
    """In place, by keyword and by position, on values without other readers."""

    def forward(self, x):
        y = F.relu(F.relu(x - 0.3, True) - 0.1, inplace=True) - 0.2
        return F.relu_(y).cos().relu_()


class Chain(nn.Module):
    """A ReLU reads a ReLU; one input has a default."""

    def forward(self, x, scale=0.5):
        return F.relu(torch.relu(x)).relu() * scale


class Keywords(nn.Module):
    """Keyword arguments only; returns a dictionary."""

    def forward(self, x):
        y = F.relu(inplace=True, input=x - 1)
        return {"first": torch.relu(input=y - 0.1), "second": [F.relu(x), x]}


class UnreadInput(nn.Module):
    def forward(self, x, unread):
        return torch.relu(x - 0.3)


class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x + self.weight


class OtherNames(nn.Module):
    """An input and a buffer are named like methods; a part has only a parameter."""

    def __init__(self):
        super().__init__()
        self.part = Shift()
        self.register_buffer("relu", torch.ones(3))

    def forward(self, relu_):
        return torch.relu(self.part(relu_ * self.relu) - 0.3)


class Relatives(nn.Module):
    """Other functions whose names contain ReLU."""

    def __init__(self):
        super().__init__()
        self.six = nn.ReLU6()
        self.slope = nn.PReLU()

    def forward(self, x):
        y = self.six(x * 3) + F.leaky_relu(x, 0.2) + F.relu6(x * 2)
        return self.slope(y - 1) + torch.relu(x) + F.elu(x)


class Clamps(nn.Module):
    """Other calls that compute the same as a ReLU."""

    def forward(self, x):
        y = torch.clamp(x, min=0) - x.clamp(min=0) * 2 + x.clamp_min(0)
        return y * F.threshold(x, 0, 0) + torch.relu(x) - torch.maximum(x, x * 0)


class WholeNumbers(nn.Module):
    """The inputs are integers, the inputs of ReLU are not."""

    def forward(self, n):
        return torch.relu(n.double() / 3)


class Masked(nn.Module):
    """A ReLU reads a value with many zeros."""

    def forward(self, x):
        return torch.relu(x * (x > 0)) + x


class Conditions(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: torch.relu(y) + 1, lambda y: y.relu() * 2, (x,))


class NestedConditions(nn.Module):
    def forward(self, x):
        def smallest(z):
            return torch.cond(z.max() > 9, lambda z: z.exp(), lambda z: z.neg().relu(), (z,))

        def small(y):
            z = torch.cond(y.max() > 9, lambda z: z.sin(), lambda z: F.relu(z - 0.2), (y,))
            return z + torch.cond(y.max() > 8, lambda z: z.tanh(), smallest, (y,))

        return torch.cond(x.max() > 9, lambda y: y.cos(), small, (x,))


class Break(nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        torch._dynamo.graph_break()
        return F.relu(y - 0.5)


class AfterItsDouble(ByHand):
    """The answer is first called with a model of the same code and other parameters."""

    says = "{name}(gm, example_inputs) for two models with the same code and other parameters"

    def __call__(self, answer: Any) -> Run:
        """Call the answer for both models, and then both results."""
        double = copy.deepcopy(self.model)
        for tensor in (*double.parameters(), *double.buffers()):
            tensor.data.mul_(-2)
        first = ByHand(double, self.examples)(answer)
        second = super().__call__(answer)
        return lambda *inputs: (first(*inputs), second(*inputs))
