"""Models for `keep_dynamic`, with parts whose control flow depends on data.

Their classes are on the list of modules that a graph may call: see `builder/operations.py`.
"""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import torch
from torch import nn


class Choose(nn.Module):
    """Branches on a value, so it cannot be traced."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x, flip=False):
        if x.sum() > 0:
            return self.lin(x)
        return x - 1 if flip else x + 1


class Repeat(nn.Module):
    """Loops over a size: tracing raises a `TypeError`."""

    def forward(self, x):
        for i in range(x.shape[0]):
            x = x + i
        return x


class NoTensor(Exception):
    """Raised if the input is not a tensor."""


SHIFTS = {torch.float32: 1.0, torch.float64: 2.0}


class Strict(nn.Module):
    """Checks its input in one of three ways, and raises if it is a Proxy."""

    def __init__(self, way=0):
        super().__init__()
        self.way = way

    def forward(self, x):
        if self.way == 0:
            return x + SHIFTS[x.dtype]
        if self.way == 1:
            assert isinstance(x, torch.Tensor), "no tensor"
        elif type(x) is not torch.Tensor:
            raise NoTensor(type(x).__name__)
        return x.cos()


class Halves(nn.Module):
    """Returns two values, and cannot be traced."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x):
        low = x.clamp(max=float((x * self.scale).mean()))
        return low, x - low


class Whole(nn.Module):
    """Iterates over its input, of any length; a Proxy cannot be iterated."""

    def __init__(self):
        super().__init__()
        self.halves = Halves()

    def forward(self, x):
        return torch.stack([part.sin() for part in self.halves(x)]).sum(0)


class Static(nn.Module):
    """Branches, but only on its own settings."""

    def __init__(self, deep=True):
        super().__init__()
        self.deep = deep
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        if self.deep and not self.training:
            x = self.lin(x)
        return x.tanh()


class Maybe(nn.Module):
    """Branches on a value if its settings say so."""

    def __init__(self, asks=True):
        super().__init__()
        self.asks = asks

    def forward(self, x):
        if self.asks and x.sum() > 0:
            return x.neg()
        return x.cos()


class Around(nn.Module):
    """Can be traced around one part that cannot."""

    def __init__(self):
        super().__init__()
        self.static = Static()
        self.choose = Choose()

    def forward(self, x):
        return self.choose(self.static(x).abs()) * x


class Deciding(nn.Module):
    """Cannot be traced, and has a part that cannot be traced either."""

    def __init__(self):
        super().__init__()
        self.choose = Choose()

    def forward(self, x):
        x = self.choose(x.sin())
        return x if x.max() > 0 else -x


class Clipped(nn.Module):
    """Reads its parameter, then branches on a value."""

    def __init__(self):
        super().__init__()
        self.bound = nn.Parameter(torch.rand(3))

    def forward(self, x):
        x = torch.minimum(x, self.bound)
        return x if x.sum() > 0 else -x


class ReadAgain(nn.Module):
    """Reads a parameter of an untraceable part after calling the part."""

    def __init__(self):
        super().__init__()
        self.clipped = Clipped()

    def forward(self, x):
        return self.clipped(x) + self.clipped.bound


class Rounds(nn.Module):
    """Returns a Python number for any input."""

    def forward(self, x):
        return 2


class Repeated(nn.Module):
    """Can be traced: the number of rounds is fixed."""

    def __init__(self):
        super().__init__()
        self.rounds = Rounds()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        for _ in range(self.rounds(x)):
            x = self.lin(x)
        return x


class NumberOfAPart(nn.Module):
    """Can be traced completely."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.repeated = Repeated()

    def forward(self, x):
        return self.repeated(self.first(x))


class OneDynamic(nn.Module):
    def __init__(self):
        super().__init__()
        self.static = Static()
        self.choose = Choose()

    def forward(self, x):
        return self.static(self.choose(self.static(x)))


class Deep(nn.Module):
    """Nested containers; one of the innermost modules cannot be traced."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.Sequential(Around(), nn.ReLU()))
        self.layers = nn.ModuleList([Static(), Repeat()])

    def forward(self, x):
        x = self.body(x)
        for layer in self.layers:
            x = layer(x)
        return x


class Settings(nn.Module):
    """Some modules of one class can be traced, others cannot."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"part": Maybe(), "part_2": Maybe(asks=False)})
        self.parts["static_part"] = Maybe(asks=False)

    def forward(self, x):
        for part in self.parts.values():
            x = part(x)
        return x


class SameEnds(nn.Module):
    """Top-level names that also end deeper paths; of each pair, one module can be traced."""

    def __init__(self):
        super().__init__()
        self.first = Maybe()
        self.second = Maybe(asks=False)
        self.block = nn.ModuleDict({"first": Maybe(asks=False), "second": Maybe()})

    def forward(self, x):
        x = self.block["first"](self.first(x))
        return self.second(self.block["second"](x))


class AllStrict(nn.Module):
    """Tracing raises a different exception in each of three parts."""

    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(Strict(), nn.Sequential(Static(), Strict(1)), Strict(2))

    def forward(self, x):
        return self.parts(x).sin()


class BothLevels(nn.Module):
    """One untraceable module inside another, and one on its own."""

    def __init__(self):
        super().__init__()
        self.deciding = Deciding()
        self.choose = Choose()

    def forward(self, x):
        return self.deciding(x) - self.choose(x, flip=True)


class Many(nn.Module):
    """A dozen parts, none of them traceable."""

    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(*(Maybe() for _ in range(12)))

    def forward(self, x):
        return self.parts(x).sin()


class PartOfAPart(nn.Module):
    """Calls a traceable part of an untraceable module, and the module as well."""

    def __init__(self):
        super().__init__()
        self.deciding = Deciding()
        self.deciding.choose = Static()

    def forward(self, x):
        return self.deciding(x) + self.deciding.choose(x)


class CalledTwice(nn.Module):
    """One module with two names, called three times, once from inside another module."""

    def __init__(self):
        super().__init__()
        self.choose = Choose()
        self.again = self.choose
        self.around = Around()
        self.around.choose = self.choose

    def forward(self, x):
        return self.again(self.around(self.choose(x=x)), True)


class GoneThrough(nn.Module):
    def __init__(self):
        super().__init__()
        self.whole = Whole()
        self.halves = Halves()

    def forward(self, x):
        return self.whole(x) + self.halves(x)[1]


class NeverCalled(nn.Module):
    """A module that is never called is never traced."""

    def __init__(self):
        super().__init__()
        self.choose = Choose()
        self.static = Static()

    def forward(self, x):
        return self.static(x) if self.static.deep else self.choose(x)


class Frozen(nn.Module):
    """Parts in different modes, a buffer, and a shared layer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("shift", torch.rand(3))
        self.norm = nn.BatchNorm1d(3)
        self.choose = Choose()
        self.choose.lin = self.lin = nn.Linear(3, 3)

    def forward(self, x):
        return self.lin(self.choose(self.norm(x) + self.shift))


class RootAsks(nn.Module):
    """The root itself branches on a value, after a part that does."""

    def __init__(self):
        super().__init__()
        self.choose = Choose()

    def forward(self, x):
        x = self.choose(x)
        return x if x.sum() > 0 else -x
