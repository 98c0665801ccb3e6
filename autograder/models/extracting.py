"""Small models to take features from: for `extract`."""

# A learner sees these classes as they stand here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import fx, nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 2)

    def forward(self, x):
        hidden = torch.tanh(self.first(x))
        return self.second(hidden).sigmoid()


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(3, 4)
        self.body = nn.Sequential(
            nn.Sequential(nn.Linear(4, 4), nn.ReLU()), nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        )
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.body(self.stem(x)) + 1)


class Repeated(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Softplus()
        self.turn = nn.Linear(3, 3)

    def forward(self, x):
        y = self.act(self.turn(x))
        y = self.act(self.turn(y))
        return self.act(self.turn(y)) * 2


class BothNames(nn.Module):
    def __init__(self):
        super().__init__()
        self.add = nn.Linear(3, 3)
        self.act = nn.Tanh()
        self.act_1 = nn.Linear(3, 3)

    def forward(self, x):
        y = self.add(x + 1)
        return self.act_1(self.act(self.act(y)))


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(3))
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x + self.shift) * self.linear.weight.sum()


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(3, 4)
        self.left = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
        self.right = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid())
        self.scale = nn.Parameter(torch.ones(4))
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x = self.stem(x)
        left, right = self.left(x), self.right(x) * self.scale
        return self.head(torch.cat([left, right], dim=-1))


class HalfNeeded(nn.Module):
    def __init__(self):
        super().__init__()
        self.turn = nn.Linear(3, 3)
        self.act = nn.Tanh()

    def forward(self, x):
        y = self.turn(x)
        z = self.act(self.turn(y))
        self.act(z).cos()
        return torch.split(z.exp(), [1, 2], dim=-1)[1].sum()


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        first, second = torch.chunk(self.linear(input=x), 2, dim=-1)
        both = torch.stack([second, first])
        return {"sum": both.sum(dim=0), "both": (both, first)}


class Signature(nn.Module):
    def forward(self, x, unread, scale=2.0, *more):
        y = torch.sin(x)
        return y * scale + more[0] + unread


class Scaled(nn.Module):
    def forward(self, x, scale=2.0, unread=None):
        return torch.sin(x) * scale + 1


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.act = nn.ReLU(inplace=True)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.act(self.norm(x)) * 2)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(4)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x
        return self.relu(out)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 1)
        self.layers = nn.Sequential(Block(), Block())
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        x = self.layers(F.silu(self.stem(x), inplace=True))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


def renamed() -> fx.GraphModule:
    """A graph module whose nodes are called otherwise in a fresh trace."""

    def forward(x):
        return torch.sin(torch.cos(x) + 1 + 2) + 3

    gm = fx.symbolic_trace(forward)
    first = next(node for node in gm.graph.nodes if node.name == "add")
    first.replace_all_uses_with(first.args[0])
    gm.graph.erase_node(first)
    gm.recompile()
    return gm
