"""Modules within modules, for `node_paths`: whose forward makes which node?"""

from __future__ import annotations

import operator
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.models import Trial, fresh

Make = Callable[[], nn.Module]


class Flat(nn.Module):
    """No submodule is entered."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(3, 3)

    def forward(self, x):
        return torch.relu(self.proj(x)) + 1


class Gate(nn.Module):
    """A function, a method, an operator and a layer."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x):
        return torch.sigmoid(self.lin(x)).neg() * x


class OneChild(nn.Module):
    """Operations before, inside and after a submodule."""

    def __init__(self):
        super().__init__()
        self.gate = Gate()

    def forward(self, x):
        return torch.tanh(self.gate(x + 1))


class Pair(nn.Module):
    """A module with a module, and operations on both sides of it."""

    def __init__(self):
        super().__init__()
        self.inner = Gate()

    def forward(self, x):
        return self.inner(x * 2) - x


class Deep(nn.Module):
    """Two levels down, back up one level, and back to the top."""

    def __init__(self):
        super().__init__()
        self.block = Pair()
        self.second = Pair()

    def forward(self, x):
        return torch.exp(self.second(self.block(x)))


class CalledTwice(nn.Module):
    """One module, called twice, and something between the calls."""

    def __init__(self):
        super().__init__()
        self.block = Pair()

    def forward(self, x):
        first = self.block(x)
        return self.block(torch.relu(first)) + first


class CalledAgain(nn.Module):
    """Two models of this class need not have the same graph."""

    def __init__(self, times=2):
        super().__init__()
        self.gate = Gate()
        self.times = times

    def forward(self, x):
        for _ in range(self.times):
            x = self.gate(x)
        return x


class LeafTwice(nn.Module):
    """One layer called by two modules, and twice by one of them."""

    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
        self.body = nn.Sequential(nn.Linear(3, 3), self.act)

    def forward(self, x):
        return self.act(self.body(self.act(x)))


class Sequentials(nn.Module):
    """A Sequential within a Sequential: their forward calls the children."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.ReLU(), Gate()), nn.Tanh())

    def forward(self, x):
        return self.body(x) + x


class Reaching(nn.Module):
    """The root calls what belongs to others: in a list, in a dictionary, inside of a module."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), Gate()])
        self.acts = nn.ModuleDict({"relu": nn.ReLU()})
        self.block = Pair()

    def forward(self, x):
        x = self.acts["relu"](self.layers[0](x))
        return self.block.inner.lin(self.layers[1](x))


class Borrower(nn.Module):
    """Calls a module that it was given."""

    def __init__(self, lent):
        super().__init__()
        self.lent = lent

    def forward(self, x):
        return self.lent(x + 1) * 3


class Shared(nn.Module):
    """One layer and one block, each known under two names."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.gate = Gate()
        self.first = Borrower(self.lin)
        self.second = Borrower(self.gate)

    def forward(self, x):
        return self.second(self.first(x)) + self.gate(x)


class Namesakes(nn.Module):
    """Names that say something else than where a node was made."""

    def __init__(self):
        super().__init__()
        self.relu = Gate()
        self.relu_1 = nn.Linear(3, 3)
        self.sub_add = Pair()
        self.output = nn.Linear(3, 3)

    def forward(self, x, relu_lin, sub):
        x = torch.relu(self.relu(x)) + relu_lin
        return torch.relu(self.relu_1(self.output(self.sub_add(x)))) + sub


class Scale(nn.Module):
    """A parameter of its own."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))

    def forward(self, x):
        return x * self.weight


class Parameters(nn.Module):
    """A parameter read by its module, and parameters of submodules read by the root."""

    def __init__(self):
        super().__init__()
        self.scale = Scale()
        self.gate = Gate()
        self.shift = nn.Parameter(torch.rand(3))

    def forward(self, x):
        x = self.scale(x + self.shift)
        return F.linear(x, self.gate.lin.weight) + self.scale.weight


class Centre(nn.Module):
    """A buffer of its own."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.rand(3))

    def forward(self, x):
        return (x - self.mean).abs()


class Buffers(nn.Module):
    """Buffers, read where they live and elsewhere."""

    def __init__(self):
        super().__init__()
        self.centre = Centre()
        self.register_buffer("shift", torch.rand(3))

    def forward(self, x):
        return self.centre(x) + self.shift + self.centre.mean, self.shift


class Positions(nn.Module):
    """A buffer is handed to a layer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("places", torch.rand(4, 3))
        self.proj = nn.Linear(3, 3)

    def forward(self, x):
        return x + self.proj(self.places)


class Encoded(nn.Module):
    """A module that hands its own buffer to a layer, as a keyword argument too."""

    def __init__(self):
        super().__init__()
        self.embed = Positions()
        self.proj = nn.Linear(3, 3)

    def forward(self, x):
        return self.embed(x) + self.proj(input=self.embed.places)


Ends = namedtuple("Ends", "low high")


class NamedTuple(nn.Module):
    """A named tuple among the arguments becomes a node, too."""

    def __init__(self):
        super().__init__()
        self.inner = Stacked()

    def forward(self, x):
        return self.inner(x) + 1


class Stacked(nn.Module):
    """Stacks a named tuple of tensors."""

    def forward(self, x):
        return torch.stack(Ends(x, x.neg()))


class Signature(nn.Module):
    """Parameters of every kind, and a submodule that takes them by keyword."""

    def __init__(self):
        super().__init__()
        self.mix = Mix()

    def forward(self, x, scale=2.0, *rest, shift=None, **more):
        return self.mix(y=scale, x=x), rest, shift, more


class Mix(nn.Module):
    """Takes two values."""

    def forward(self, x, y):
        return {"sum": operator.add(x, y), "dead": x.exp(), "items": [x - y, x]}


def helper(x):
    """No module, so its nodes belong to the module that calls it."""
    return torch.sin(x).cos()


class ByMode(nn.Module):
    """Makes other nodes in training mode."""

    def forward(self, x):
        return x.exp() if self.training else x.neg()


class Moody(nn.Module):
    """It and its submodule branch on their mode."""

    def __init__(self):
        super().__init__()
        self.part = ByMode()

    def forward(self, x):
        x = self.part(x)
        return self.part(x * 2) if self.training else x


class Helpers(nn.Module):
    """Functions and methods, also another module's, make nodes for the module that calls them."""

    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.user = HelperUser()

    def forward(self, x):
        return helper(self.gate(helper(x))) + self.user(x) + self.user.step(x)


class HelperUser(nn.Module):
    """Calls a function and a method of its own."""

    def step(self, x):
        return x.abs() + 1

    def forward(self, x):
        return self.step(helper(x))


class OwnLinear(nn.Linear):
    """A subclass of `nn.Linear` is entered: FX knows only the classes of torch.nn as leaves."""


class Subclassed(nn.Module):
    """A layer that is entered, next to one that is not."""

    def __init__(self):
        super().__init__()
        self.own = OwnLinear(3, 3)
        self.plain = nn.Linear(3, 3)

    def forward(self, x):
        return self.plain(self.own(x))


class Branches(nn.Module):
    """Whose forward cannot be traced."""

    def __init__(self):
        super().__init__()
        self.gate = Gate()

    def forward(self, x):
        x = self.gate(x)
        return x if x.sum() > 0 else -x


class Untraceable(nn.Module):
    """Tracing raises two levels down."""

    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(3, 3), Branches())

    def forward(self, x):
        return self.block(x + 1) * 2


def graph_module() -> fx.GraphModule:
    """A model that is a trace itself: its graph calls layers deep inside."""
    return fx.symbolic_trace(Deep())


class AroundATrace(nn.Module):
    """A submodule that is a graph module."""

    def __init__(self):
        super().__init__()
        self.traced = graph_module()

    def forward(self, x):
        return self.traced(x) * 2


@dataclass(frozen=True, eq=False)
class PathTrial:
    """Builds a trial of one model; the answer is called on other models before.

    Attributes:
        make: builds the model.
        after: build the models of the earlier calls.
        training: whether the model is in training mode.
        change: what is done to the model after an earlier call on the model itself.
    """

    make: Make
    after: tuple[Make, ...] = ()
    training: bool = False
    change: Callable[[nn.Module], None] | None = None

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, training=self.training)
        watch = tuple(fresh(m, seed) for m in self.after)
        if self.change is None:
            return Trial(args=(model,), model=model, watch=watch)
        change = partial(_changed, self.change, model)
        return Trial(args=(model,), model=model, watch=(*watch, model), meanwhile=change)


def _changed(change: Callable[[nn.Module], None], model: nn.Module, _: object) -> None:
    change(model)


def exchange_gate(model: nn.Module) -> None:
    """Put a module with a module in it where the gate was."""
    model.gate = Pair()


# Models on which the answer is called before: there is little in them to be wrong about, so
# that what is wrong about a random model is shown on that model.
EARLIER: tuple[tuple[Make, ...], ...] = (
    (),
    (Flat,),
    (Untraceable,),
    (Flat, Untraceable),
)


def after_others(trial: Trial, choice: int) -> Trial:
    """The trial, now and then with models on which the answer is called before."""
    earlier = EARLIER[choice // 2 % len(EARLIER)] if choice % 2 else ()
    return replace(trial, watch=tuple(fresh(make, 0) for make in earlier))
