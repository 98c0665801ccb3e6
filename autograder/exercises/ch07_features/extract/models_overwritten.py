"""Small models that overwrite values in place, directly or through an alias, for `extract`."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


class ShapeAfter(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        y = self.linear(x)
        y.unsqueeze_(0)
        return y.sum(0) * 2


class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU6(inplace=True)
        self.swish = nn.Hardswish(inplace=True)
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        y = self.linear(x)
        z = self.act(input=y)
        z.add_(-2).mul_(3)
        return self.swish(z) - torch.relu_(torch.sin(x)).sum()


class OverInput(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        y = F.relu(input=x, inplace=True)
        return self.linear(y)


class FromAnother(nn.Module):
    def forward(self, x):
        y = torch.sin(x)
        z = torch.cos(x)
        z.mul_(-3)
        y.add_(z)
        return y * 2


class SwitchedOff(nn.Module):
    """Neither ReLU works in place."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.act = nn.ReLU(inplace=False)

    def forward(self, x):
        y = self.linear(x)
        other = self.act(y) + F.relu(y, inplace=False)
        return other * y.exp()


class ReadInPlace(nn.Module):
    """`add_` writes to the sine, but only reads the cosine."""

    def forward(self, x):
        total, step = x.sin(), x.cos()
        total.add_(step)
        return total * step.exp()


class OverParameter(nn.Module):
    """Each call changes a parameter that is not trained."""

    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(3), requires_grad=False)

    def forward(self, x):
        y = x + self.shift
        self.shift.add_(1)
        return y * self.shift


class ReadInAList(nn.Module):
    """Only a list reads the value that is changed in place."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        y = self.linear(x)
        y.relu_()
        return torch.cat([y, x]).exp()


class ByKeyword(nn.Module):
    """Three calls in place with keyword arguments; no node reads their results."""

    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        a, b, c = x.sin(), x.cos(), x.tanh()
        torch.neg_(input=a)
        F.relu(input=b, inplace=True)
        self.act(input=c)
        return a * 2, b * 3, c * 4


# ------------------------------------------------------------------ through an alias


class ThroughTranspose(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        y = torch.sin(x)
        self.act(y.T.transpose(0, 1).unsqueeze(0))
        return y + 1


class ThroughReshape(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        y = self.linear(x)
        folded = torch.reshape(input=y, shape=(-1, 2)).permute(1, 0)
        y = torch.narrow(y, 0, 0, 1)
        torch.relu_(folded)
        return y.flatten() - 1


class ThroughDetach(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        y = self.linear(x)
        y.detach().squeeze().expand(2, 4).unbind(0)[1].relu_()
        return y * 2


class ThroughModules(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.Dropout(0.5), nn.Identity(), nn.Flatten(0))
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.linear(x)
        self.act(self.rest(y))
        return y * 2


class ThroughDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        y = self.linear(x)
        z = F.dropout(y, 0.5, self.training)
        z.relu_()
        return y * 2


class ThroughAlphaDropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.drop = nn.AlphaDropout(0.5)

    def forward(self, x):
        y = self.linear(x)
        z = self.drop(y)
        z.relu_()
        return y * 2


class ThroughSwap(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        y = self.linear(x)
        F.relu(torch.moveaxis(y.swapaxes(0, 1), 0, 1), inplace=True)
        return y * 2


class CastsOneByOne(nn.Module):
    """Each of these calls returns an alias of its input."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        a, b, c, d = self.linear(x), x.sin(), x.cos(), x.tanh()
        a.to(torch.float64).add_(1)
        b.contiguous().mul_(2)
        c.double().sub_(1)
        d.view_as(x).neg_()
        return a * b * c * d


class ThroughEinsum(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        y = self.linear(x)
        left, _ = torch.einsum("ij->ji", y).hsplit([1])
        left.relu_()
        return y * 2


class ThroughBroadcast(nn.Module):
    """The graph does not show which of the two inputs a result is an alias of."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        y = self.linear(x)
        _, second = torch.broadcast_tensors(x.sum(), y)
        second.relu_()
        return y * 2


class PureLogic(nn.Module):
    """`&` and `|` are called `and_` and `or_`, but change nothing."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        y = self.linear(x)
        positive, small = y > 0, y < 1
        positive & small
        return (positive | small) * y


class AliasThenMore(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        y = self.linear(x)
        top, _ = torch.split(y, 2, dim=-1)
        y.relu_()
        z = top.exp()
        top.mul_(2)
        return y + z.sum()
