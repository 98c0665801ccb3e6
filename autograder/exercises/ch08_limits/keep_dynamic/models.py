"""Models with parts whose control flow depends on data: for `keep_dynamic`.

Their classes are on the list of modules that a graph may call: see `builder/operations.py`.
"""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import torch
from torch import fx, nn


class Choose(nn.Module):
    """Asks for a value: it cannot be traced."""

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
    """What was given is no tensor."""


SHIFTS = {torch.float32: 1.0, torch.float64: 2.0}


class Strict(nn.Module):
    """Asks what it was given, in one of three ways, and raises where that is a Proxy."""

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
    """Goes through what it gets, however many there are: it cannot be traced if that is a Proxy."""

    def __init__(self):
        super().__init__()
        self.halves = Halves()

    def forward(self, x):
        return torch.stack([part.sin() for part in self.halves(x)]).sum(0)


class Static(nn.Module):
    """It branches, but on its own settings."""

    def __init__(self, deep=True):
        super().__init__()
        self.deep = deep
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        if self.deep and not self.training:
            x = self.lin(x)
        return x.tanh()


class Maybe(nn.Module):
    """Asks for a value if its settings say so."""

    def __init__(self, asks=True):
        super().__init__()
        self.asks = asks

    def forward(self, x):
        if self.asks and x.sum() > 0:
            return x.neg()
        return x.cos()


class Around(nn.Module):
    """Can be traced around the part that cannot."""

    def __init__(self):
        super().__init__()
        self.static = Static()
        self.choose = Choose()

    def forward(self, x):
        return self.choose(self.static(x).abs()) * x


class Deciding(nn.Module):
    """Cannot be traced, and has a part that cannot be traced, either."""

    def __init__(self):
        super().__init__()
        self.choose = Choose()

    def forward(self, x):
        x = self.choose(x.sin())
        return x if x.max() > 0 else -x


class Clipped(nn.Module):
    """Reads its parameter, and then asks for a value."""

    def __init__(self):
        super().__init__()
        self.bound = nn.Parameter(torch.rand(3))

    def forward(self, x):
        x = torch.minimum(x, self.bound)
        return x if x.sum() > 0 else -x


class ReadAgain(nn.Module):
    """Reads a parameter of a part that cannot be traced, after the part's call."""

    def __init__(self):
        super().__init__()
        self.clipped = Clipped()

    def forward(self, x):
        return self.clipped(x) + self.clipped.bound


class Rounds(nn.Module):
    """Returns a number of Python, whatever it is given."""

    def forward(self, x):
        return 2


class Repeated(nn.Module):
    """Can be traced: the number of its rounds is known."""

    def __init__(self):
        super().__init__()
        self.rounds = Rounds()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        for _ in range(self.rounds(x)):
            x = self.lin(x)
        return x


class NumberOfAPart(nn.Module):
    """All of it can be traced."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.repeated = Repeated()

    def forward(self, x):
        return self.repeated(self.first(x))


class AllStatic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(Static(), nn.Linear(3, 3), Static(deep=False))

    def forward(self, x):
        return self.body(x) + x


class OneDynamic(nn.Module):
    def __init__(self):
        super().__init__()
        self.static = Static()
        self.choose = Choose()

    def forward(self, x):
        return self.static(self.choose(self.static(x)))


class Deep(nn.Module):
    """Containers in containers, and at the bottom of one what cannot be traced."""

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
    """Of one class, some can be traced and some cannot."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"part": Maybe(), "part_2": Maybe(asks=False)})
        self.parts["static_part"] = Maybe(asks=False)

    def forward(self, x):
        for part in self.parts.values():
            x = part(x)
        return x


class SameEnds(nn.Module):
    """Two names at the top are those of parts further down; of each pair one can be traced."""

    def __init__(self):
        super().__init__()
        self.first = Maybe()
        self.second = Maybe(asks=False)
        self.block = nn.ModuleDict({"first": Maybe(asks=False), "second": Maybe()})

    def forward(self, x):
        x = self.block["first"](self.first(x))
        return self.second(self.block["second"](x))


class AllStrict(nn.Module):
    """Tracing raises an exception of another kind in each of three parts."""

    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(Strict(), nn.Sequential(Static(), Strict(1)), Strict(2))

    def forward(self, x):
        return self.parts(x).sin()


class BothLevels(nn.Module):
    """Two that cannot be traced, one within the other, and one of them alone."""

    def __init__(self):
        super().__init__()
        self.deciding = Deciding()
        self.choose = Choose()

    def forward(self, x):
        return self.deciding(x) - self.choose(x, flip=True)


class Many(nn.Module):
    """A dozen parts, none of which can be traced."""

    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(*(Maybe() for _ in range(12)))

    def forward(self, x):
        return self.parts(x).sin()


class PartOfAPart(nn.Module):
    """Calls what can be traced of a part that cannot be traced, and the part as well."""

    def __init__(self):
        super().__init__()
        self.deciding = Deciding()
        self.deciding.choose = Static()

    def forward(self, x):
        return self.deciding(x) + self.deciding.choose(x)


class CalledTwice(nn.Module):
    """One part with two names, called three times, also from within another."""

    def __init__(self):
        super().__init__()
        self.choose = Choose()
        self.again = self.choose
        self.around = Around()
        self.around.choose = self.choose

    def forward(self, x):
        return self.again(self.around(self.choose(x=x)), True)


class Unpacked(nn.Module):
    """What a leaf returns is taken apart."""

    def __init__(self):
        super().__init__()
        self.halves = Halves()

    def forward(self, x, scale=2.0):
        low, high = self.halves(x)
        return {"low": low * scale, "all": [high, x]}


class GoneThrough(nn.Module):
    def __init__(self):
        super().__init__()
        self.whole = Whole()
        self.halves = Halves()

    def forward(self, x):
        return self.whole(x) + self.halves(x)[1]


class NeverCalled(nn.Module):
    """What is never called need not be traced."""

    def __init__(self):
        super().__init__()
        self.choose = Choose()
        self.static = Static()

    def forward(self, x):
        return self.static(x) if self.static.deep else self.choose(x)


class Frozen(nn.Module):
    """Parts in different modes, a buffer of its own, and a layer that is shared."""

    def __init__(self):
        super().__init__()
        self.register_buffer("shift", torch.rand(3))
        self.norm = nn.BatchNorm1d(3)
        self.choose = Choose()
        self.choose.lin = self.lin = nn.Linear(3, 3)

    def forward(self, x):
        return self.lin(self.choose(self.norm(x) + self.shift))


def a_trace_inside() -> nn.Module:
    """A module with a graph module in it, and a part that cannot be traced behind it."""
    return nn.ModuleDict({"traced": fx.symbolic_trace(AllStatic()), "choose": Choose()})


class WithTrace(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = a_trace_inside()

    def forward(self, x):
        return self.parts["choose"](self.parts["traced"](x))


class RootAsks(nn.Module):
    """The root itself asks for a value, behind a part that does."""

    def __init__(self):
        super().__init__()
        self.choose = Choose()

    def forward(self, x):
        x = self.choose(x)
        return x if x.sum() > 0 else -x


class RootStrict(nn.Module):
    """The root raises an exception of a class of its own."""

    def __init__(self):
        super().__init__()
        self.strict = Strict(2)

    def forward(self, x):
        x = self.strict(x)
        if type(x) is not torch.Tensor:
            raise NoTensor("the root was given none")
        return x


class RootRefuses(nn.Module):
    """The root raises an error of its own."""

    def __init__(self):
        super().__init__()
        self.repeat = Repeat()

    def forward(self, x):
        x = self.repeat(x)
        if not isinstance(x, torch.Tensor):
            raise KeyError("no tensor")
        return x
