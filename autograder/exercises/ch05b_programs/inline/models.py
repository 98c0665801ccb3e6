"""Models for `inline`, with submodules to inline.

Names collide on purpose: the model and its submodule have parameters, layers and arguments with
the same name.
"""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import torch
from torch import fx, nn

from autograder.authoring.models import Trial

TARGETS: WeakKeyDictionary[nn.Module, str] = WeakKeyDictionary()
"""The name of the submodule to inline, for each random model."""


class KeepTarget(fx.Tracer):
    """A tracer that records each call of one submodule as one node, whatever its class."""

    def __init__(self, target: str) -> None:
        super().__init__()
        self.target = target

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a module is a leaf; true for the target."""
        return module_qualified_name == self.target or super().is_leaf_module(
            m, module_qualified_name
        )


def trace_keeping(target: str, model: nn.Module) -> fx.GraphModule:
    """The trace of a model in which each call of `target` is one node."""
    tracer = KeepTarget(target)
    graph = tracer.trace(model)
    return fx.GraphModule(tracer.root, graph)


# ------------------------------------------------------------------ submodules to inline


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        return x * self.weight + self.shift


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.act = nn.Tanh()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return self.act(self.first(x)) * self.weight


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.scale = Scale()
        self.act = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid())

    def forward(self, x):
        return self.scale(self.block(x)) - self.act(x)


class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, a, b, scale=2.0):
        return (a - b * self.weight) * scale


class Clip(nn.Module):
    def forward(self, x, low=None, high=0.5):
        return torch.clamp(x, low, high)


class KeywordOnly(nn.Module):
    def forward(self, x, *, scale, shift=1):
        return x * scale + shift


class Join(nn.Module):
    def forward(self, parts, dim=-1):
        return torch.cat(parts, dim)


class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return torch.sin(x), x * self.weight


class Nested(nn.Module):
    def forward(self, x):
        return x.sin(), (x, None), 2.0


class Single(nn.Module):
    def forward(self, x):
        return (x * 2,)


class Swap(nn.Module):
    def forward(self, a, b):
        return b, a


class Keep(nn.Module):
    def forward(self, x):
        return x


class Bump(nn.Module):
    def forward(self, x):
        return x.add_(1)


class BumpUnread(nn.Module):
    def forward(self, x):
        x.add_(1)
        return x


class Spare(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.spare = nn.Linear(3, 3)

    def forward(self, x):
        return self.first(x).tanh()


class Counts(nn.Module):
    def forward(self, x):
        return x * torch.arange(3)


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.drop = nn.Dropout()

    def forward(self, x):
        return self.drop(self.linear(x))


# ------------------------------------------------------------------ one call


class OneScale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x):
        return torch.relu(self.scale(x - 1))


class AsOutput(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x):
        return self.scale(x)


class TwoLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.fc2 = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc(x)))


# ------------------------------------------------------------------ names


class Namesakes(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.weight = nn.Parameter(torch.ones(3))
        self.act = nn.Sigmoid()
        self.block = Block()

    def forward(self, x):
        y = self.act(self.first(x)) * self.weight
        return self.block(y) + y


class OneTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = Tower()
        self.block = Block()

    def forward(self, x):
        return self.tower(self.block(x))


# ------------------------------------------------------------------ several calls


class ThreeCalls(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x, y):
        return self.scale(x) - self.scale(self.scale(y))


# ------------------------------------------------------------------ arguments


class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = Mix()

    def forward(self, x, y):
        return self.mix(b=x, a=y) * self.mix(x, scale=3.0, b=y)


class LayerKeyword(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(input=x * 2)


class ParameterGiven(nn.Module):
    """The part reads a parameter of the model."""

    def __init__(self):
        super().__init__()
        self.mix = Mix()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return self.mix(x, self.weight) - self.mix(b=x, a=self.weight)


class NoneGiven(nn.Module):
    def __init__(self):
        super().__init__()
        self.clip = Clip()

    def forward(self, x):
        return self.clip(x), self.clip(x, -0.2), self.clip(x, low=0.0, high=None)


class ListedByKeyword(nn.Module):
    def __init__(self):
        super().__init__()
        self.join = Join()

    def forward(self, x, y):
        return self.join(parts=[x, y, x + y]) + self.join(dim=1, parts=(y, x, x))


# ------------------------------------------------------------------ tuples


class Unpacked(nn.Module):
    def __init__(self):
        super().__init__()
        self.waves = Waves()

    def forward(self, x):
        a, b = self.waves(x)
        return a - b


class NestedPair(nn.Module):
    def __init__(self):
        super().__init__()
        self.nested = Nested()

    def forward(self, x):
        y, pair, number = self.nested(x)
        return y - pair[0], self.nested(y)


class OneInATuple(nn.Module):
    """The part returns a tuple with one value."""

    def __init__(self):
        super().__init__()
        self.single = Single()

    def forward(self, x):
        (y,) = self.single(x)
        return y, self.single(y)[0], self.single(x.sin())


# ------------------------------------------------------------------ everything else


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.bump = Bump()

    def forward(self, x):
        y = x * 2
        before = y.cos()
        self.bump(y)
        return before, y.cos()


class InPlaceUnread(nn.Module):
    def __init__(self):
        super().__init__()
        self.bump = BumpUnread()

    def forward(self, x):
        return self.bump(x * 2).cos()


class NamedAsMethod(nn.Module):
    """The part's name is also the name of a called method."""

    def __init__(self):
        super().__init__()
        self.tanh = Scale()

    def forward(self, x):
        return self.tanh(x.tanh()) - x.tanh()


class NamedAsInput(nn.Module):
    """The part's name is also the name of an input."""

    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x, scale=2.0):
        return self.scale(x * scale) - scale


class WithSpare(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Spare()

    def forward(self, x):
        return self.part(x) + 1


class Counted(nn.Module):
    """The part creates a tensor."""

    def __init__(self):
        super().__init__()
        self.part = Counts()

    def forward(self, x):
        return self.part(x) + self.part(x.cos())


class Act(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = Block()
        self.actual = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return torch.tanh(self.act(x)) * self.actual


class SameNameInside(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = Act()

    def forward(self, x):
        return self.act(x) - self.act(x.sin())


class NeverCalled(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.spare = nn.Linear(3, 3)
        self.scale = Scale()

    def forward(self, x):
        return self.scale(self.fc(x)).sin()


class TwiceNoisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.noisy = Noisy()

    def forward(self, x):
        return self.noisy(x) - self.noisy(x)


def traced_layers() -> fx.GraphModule:
    """A model that is already a `GraphModule`."""
    return fx.symbolic_trace(TwoLayers())


# ------------------------------------------------------------------ random models


PARTS = (Scale, Block, Tower, Mix, Clip, KeywordOnly, Join, Waves, Swap, Keep, Bump)


def with_target(trial: Trial, choice: int) -> Trial:
    """The trial with the name of a submodule, or with a name that does not exist."""
    model: nn.Module = trial.model
    if choice % 6 == 4:
        model = fx.symbolic_trace(model)
    names = _openable(model)
    if choice % 9 == 1 or not names:
        model.add_module("spare", nn.Sequential(nn.Linear(3, 3)))
        names = _openable(model)
    # Prefer direct submodules to those deep inside.
    own = [name for name in names if "." not in name] if choice % 3 else names
    target = own[choice * len(own) // 64] if own else names[0]
    if choice % 8 == 7:
        target = f"{target}.missing" if choice % 16 == 7 else "missing"
    TARGETS[model] = target
    return replace(trial, args=(model, target), model=model)


def _openable(model: nn.Module) -> list[str]:
    """The names of all submodules, except the plain `nn.Module` containers in a trace."""
    return [name for name, m in model.named_modules() if name and type(m) is not nn.Module]
