"""Small models to split in two, for `split_at`."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101

from __future__ import annotations

from dataclasses import replace

import torch
from torch import fx, nn

from autograder.authoring.models import Trial, renamed


class Straight(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 2)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


class Longer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        return torch.exp(self.linear(torch.cos(x)).neg())


class Skips(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        early = torch.sin(x)
        y = self.linear(early)
        z = torch.relu(y)
        return z * early + x - early.sum()


class ByKeyword(nn.Module):
    def forward(self, x):
        a = torch.sin(x)
        b = torch.cos(x)
        return torch.add(input=b.exp(), other=a)


class Sliced(nn.Module):
    def forward(self, x):
        rows = x.shape[0] - 1
        y = torch.sin(x)
        return y.cos()[:rows]


class Unread(nn.Module):
    def forward(self, x):
        a = torch.sin(x)
        torch.cos(x)
        b = a.exp()
        b.tan()
        return a * 2


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Sequential(nn.Linear(3, 4), nn.ReLU()), nn.Sequential(nn.Linear(4, 3), nn.Sigmoid())
        )

    def forward(self, x):
        return {"scores": self.body(x), "input": [x, None, 1]}


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.zeros(3))
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        y = x * self.scale + self.shift
        weight = self.linear.weight
        z = self.linear(torch.sin(y))
        return z @ weight * self.scale


class Defaults(nn.Module):
    def forward(self, x, unread=None, scale=2.0, shift=0.5):
        y = torch.sin(x)
        return y * scale + shift


class NamedOutput(nn.Module):
    """A layer is called `output`, so the output node gets another name."""

    def __init__(self):
        super().__init__()
        self.output = nn.Linear(3, 4)

    def forward(self, x):
        return self.output(torch.sin(x)).exp()


class Passes(nn.Module):
    def forward(self, x, y):
        z = torch.sin(x)
        return x, [z, z], {"y": y, "none": None}


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.linear(x)
        row = y[0]
        y.mul_(2)
        z = y + 1
        self.act(row)
        z.relu_()
        return y * z + row


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
        self.drop = nn.Dropout(0.5)
        self.last = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))

    def forward(self, x):
        y = self.drop(self.first(x))
        return self.drop(self.last(y)) + y


def cut_somewhere(trial: Trial, choice: int) -> Trial:
    """The trial with a name, usually of a node at which the model can be split."""
    if isinstance(trial.model, fx.GraphModule) and choice % 2:
        renamed(trial.model)
    nodes = list(fx.symbolic_trace(trial.model).graph.nodes)
    places = [n.name for n in nodes if n.op not in ("placeholder", "output")]
    others = ["x", "no_such_node", "output"]
    if choice % 5 == 4 or not places:
        return replace(trial, args=(trial.model, others[choice // 5 % len(others)]))
    return replace(trial, args=(trial.model, places[choice * len(places) // 64]))
