"""Models for `merge_parallel_linears`: linear layers that read one value, and others."""

# A learner sees these as they are here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 4)
        self.k = nn.Linear(3, 4)
        self.v = nn.Linear(3, 2)

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(-2, -1)
        return scores.softmax(-1) @ self.v(x)


class Branch(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(3, width)

    def forward(self, x):
        return torch.tanh(self.proj(x))


class InDifferentParts(nn.Module):
    """Layers at several depths of the model read one value."""

    def __init__(self):
        super().__init__()
        self.left = Branch(2)
        self.right = nn.Sequential(Branch(2))
        self.gate = nn.Linear(3, 2)

    def forward(self, x):
        return self.left(x) * self.gate(x) + self.right(x)


class TwoOfAKind(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(3, 2)
        self.up = nn.Linear(3, 2)

    def forward(self, x):
        return torch.sigmoid(self.gate(x)) * self.up(x)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.value = nn.Linear(3, 4)
        self.switch = nn.Linear(3, 4)

    def forward(self, x):
        return self.value(x) * torch.relu(self.switch(x))


class SomeBias(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(3, 2, bias=False)
        self.middle = nn.Linear(3, 1)
        self.right = nn.Linear(3, 2, bias=False)

    def forward(self, x):
        return [self.left(x), self.middle(x), self.right(x)]


class OneBehindAnother(nn.Module):
    """A layer of one group makes the value that the other group reads."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 3)
        self.k = nn.Linear(3, 2)
        self.up = nn.Linear(3, 2)
        self.down = nn.Linear(3, 2)

    def forward(self, x):
        y = self.q(x)
        return self.k(x) + self.up(y) * self.down(y)


class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(3, 2)
        self.right = nn.Linear(3, 2)

    def forward(self, x):
        return self.left(input=x) * self.right(x)


class NamesTaken(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(3, 2)
        self.right = nn.Linear(3, 2)
        self.names = (
            "merged merged_0 merged_1 merged_linear merged_linear_0 merged_linears_0 linear_merged "
            "left_merged merged_left fused fused_0 fused_linear_0 qkv parallel_0 wide "
            "merged0 merged1 _merged _merged_0 _merged0 merged_linear0 fused0 _fused0"
        ).split()
        for name in self.names:
            self.add_module(name, nn.PReLU())

    def forward(self, x):
        y = self.left(x) + self.right(x)
        for name in self.names:
            y = getattr(self, name)(y)
        return y


class Tied(nn.Module):
    """Two layers have one weight."""

    def __init__(self):
        super().__init__()
        self.left = nn.Linear(3, 2)
        self.right = nn.Linear(3, 2)
        self.right.weight = self.left.weight

    def forward(self, x):
        return self.left(x) * self.right(x)


class OtherValues(nn.Module):
    """Each layer reads a different value."""

    def __init__(self):
        super().__init__()
        self.left = nn.Linear(3, 2)
        self.right = nn.Linear(3, 2)
        self.last = nn.Linear(2, 2)

    def forward(self, x, y):
        first, second = torch.tanh(x), torch.tanh(y)
        return self.last(self.left(first) * self.right(second))


class SameTwice(nn.Module):
    """One layer is called twice for one value, next to two others."""

    def __init__(self):
        super().__init__()
        self.often = nn.Linear(3, 2)
        self.left = nn.Linear(3, 2)
        self.right = nn.Linear(3, 2)

    def forward(self, x):
        return self.often(x) * self.often(x) + self.left(x) - self.right(x)


class WrittenBetween(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 2)
        self.k = nn.Linear(3, 2)

    def forward(self, x):
        x = x + 1
        y = self.q(x)
        x.mul_(2)
        return y + self.k(x)


class BothSides(nn.Module):
    """Two layers before the write, and two after it."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 2) for _ in range(4)])
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        x = x * 2
        y = self.layers[0](x) - self.layers[1](x)
        self.act(x)
        return y * self.layers[2](x) + self.layers[3](x)


class WrittenByKeyword(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 2)
        self.k = nn.Linear(3, 2)

    def forward(self, x):
        x = x - 1
        y = self.q(x)
        F.relu(x, inplace=True)
        return y + self.k(x)


class WrittenInput(nn.Module):
    """A module that writes gets the value as a keyword argument."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 2)
        self.k = nn.Linear(3, 2)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        x = x - 1
        y = self.q(x)
        self.act(input=x)
        return y + self.k(x)


class InplaceIsFalse(nn.Module):
    """A module and a function that could write in place, but do not."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 3)
        self.k = nn.Linear(3, 3)
        self.act = nn.ReLU()

    def forward(self, x):
        y = self.q(x) + F.relu(x) - self.act(x)
        return y * self.k(x)


class DroppedInPlace(nn.Module):
    """In-place dropout with p=1, so the result is deterministic."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 3)
        self.drop = nn.Dropout(1.0, inplace=True)
        self.k = nn.Linear(3, 3)

    def forward(self, x):
        y = self.q(x)
        self.drop(x)
        return y * self.k(x)


class WrittenFromAnother(nn.Module):
    """Between the two calls, another value is added to their input."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 2)
        self.k = nn.Linear(3, 2)

    def forward(self, x):
        x, z = x + 1, torch.tanh(x)
        y = self.q(x)
        x.add_(z)
        return y + self.k(x)


class AddedToAnother(nn.Module):
    """Between the two calls, their input is added to another value."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 2)
        self.k = nn.Linear(3, 2)

    def forward(self, x):
        z = torch.tanh(x)
        y = self.q(x)
        z.add_(x)
        return y + self.k(x), z


class NamesOfOthers(nn.Module):
    """A layer has the name of an input, another the name of a called method."""

    def __init__(self):
        super().__init__()
        self.x = nn.Linear(3, 2)
        self.tanh = nn.Linear(3, 2)

    def forward(self, x):
        return self.x(x) * self.tanh(x), x.tanh()


class ReadBetween(nn.Module):
    """A method between the two calls reads the value without writing."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 2)
        self.k = nn.Linear(3, 2)

    def forward(self, x):
        y = self.q(x) * x.sum(-1, keepdim=True)
        return y + self.k(x)


class Unread(nn.Module):
    """The result of one layer is not read."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(3, 2)
        self.k = nn.Linear(3, 2)
        self.unread = nn.Linear(3, 4)

    def forward(self, x):
        self.unread(x)
        return self.q(x) * self.k(x)
