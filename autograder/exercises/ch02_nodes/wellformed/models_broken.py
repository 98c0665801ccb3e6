"""Graph modules for `wellformed`, broken in a plain way, or in several ways at once.

The rarer forms of each fault stand in `broken_places`, the sound modules in `sound`.
Each function takes a freshly traced `Block` and its nodes by name, and breaks it. The
module is recompiled afterwards, unless the function is marked as leaving old code behind.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import torch
from torch import fx, nn

from autograder.core.torch_private import own_buffers, own_modules, own_parameters

GM = fx.GraphModule
Nodes = SimpleNamespace
Break = Callable[[GM, Nodes], None]


class Block(nn.Module):
    """Modules two levels deep, a parameter, a buffer; nodes in a list, a slice and keywords."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.ReLU(), nn.Linear(3, 3)))
        self.gain = nn.Parameter(torch.rand(3))
        self.register_buffer("offset", torch.rand(3))

    def forward(self, x, scale=2.0):
        y = self.layers(x) * self.gain + self.offset
        both = torch.cat([x, y], dim=1)
        return both[:, :4].clamp(min=0.5) * scale


class Tower(nn.Module):
    """Another model to be broken: other names, other depth, a dictionary as result."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(3, 3, bias=False)
        self.heads = nn.ModuleDict({"left": nn.Linear(3, 2), "right": nn.Linear(3, 2)})

    def forward(self, image, *rest):
        base = torch.tanh(self.stem(image)) @ self.stem.weight
        return {"left": self.heads["left"](base), "both": [self.heads["right"](base), base]}


@dataclass(frozen=True)
class Bank:
    """One way of breaking a module.

    Attributes:
        name: the case's name.
        aspect: key of the aspect it counts for.
        apply: breaks the module.
        stale: the module is not recompiled afterwards.
        model: what is traced.
        hidden: tried only when a submission is graded.
    """

    name: str
    aspect: str
    apply: Break
    stale: bool = False
    model: Callable[[], nn.Module] = Block
    hidden: bool = False

    def make(self) -> GM:
        """The broken module."""
        gm = fx.symbolic_trace(self.model())
        self.apply(gm, SimpleNamespace(**{node.name: node for node in gm.graph.nodes}))
        if not self.stale:
            gm.recompile()
        return gm


BANK: list[Bank] = []


def broken(name: str, aspect: str = "places", **options: object) -> Callable[[Break], Break]:
    """Put a way of breaking a module into the bank."""

    def register(apply: Break) -> Break:
        BANK.append(Bank(name, aspect, apply, **options))
        return apply

    return register


def of_another_graph(name: str = "add") -> fx.Node:
    """A node of a graph that is not the one at hand; of `Block`, so the names agree."""
    return next(n for n in fx.symbolic_trace(Block()).graph.nodes if n.name == name)


def erased(gm: GM, n: Nodes) -> fx.Node:
    """A node that was made in this graph and erased again."""
    with gm.graph.inserting_before(n.add):
        ghost = gm.graph.call_function(torch.exp, (n.x,))
    gm.graph.erase_node(ghost)
    return ghost


# ------------------------------------------------------------------ each fault, alone and plain


@broken("an edit without recompile", "task", stale=True)
def _(gm, n):
    n.clamp.target = "clamp_"


@broken("two output nodes", "task")
def _(gm, n):
    gm.graph.output(n.add)


@broken("an argument from another graph", "task")
def _(gm, n):
    n.mul.args = (of_another_graph(), n.gain)


@broken("a tensor as an argument", "task")
def _(gm, n):
    n.add.args = (n.mul, torch.ones(3))


@broken("an argument that is computed later", "task")
def _(gm, n):
    n.mul.args = (n.cat, n.gain)


@broken("a module that is not there", "task")
def _(gm, n):
    n.layers_0.target = "layers.7"


@broken("setattr with a dotted name", "task")
def _(gm, n):
    setattr(gm, "layers.0", nn.Linear(3, 3))


# ------------------------------------------------------------------ several at once


@broken("only a dotted key has the name of the target", "several")
def _(gm, n):
    own_modules(gm)["act.fn"] = nn.ReLU()
    n.layers_1_0.target = "act.fn"


@broken("the output moved to the middle", "several")
def _(gm, n):
    n.cat.append(n.output)


@broken("a user in another graph, and old code", "several", stale=True)
def _(gm, n):
    with gm.graph.inserting_before(n.output):
        dead = gm.graph.call_function(torch.exp, (n.x,))
    gm.recompile()
    fx.Graph().call_function(torch.neg, (dead,))  # a value with a reader is freed elsewhere


@broken("a foreign node, a later node and a tensor in one call", "several")
def _(gm, n):
    n.cat.args = ([of_another_graph(), n.clamp, torch.ones(2, 3)],)


@broken("no output and old code", "several", stale=True)
def _(gm, n):
    gm.graph.erase_node(n.output)


@broken("everything at once", "several", stale=True)
def _(gm, n):
    n.add.args = (n.getitem, torch.ones(3))
    n.cat.args = ([n.x, of_another_graph()],)
    n.gain.target = "nowhere.at.all"
    gm.graph.output(n.x)
    own_buffers(gm.layers)["a.b"] = torch.zeros(1)


@broken("many faults, and lint stops at the first", "several")
def _(gm, n):
    n.layers_0.args = (n.layers_0,)
    n.layers_1_0.args = (n.layers_1_1,)
    n.mul.args = (erased(gm, n), of_another_graph())
    own_buffers(gm)["x.y"] = None


# ------------------------------------------------------------------ redraws, for grading


@broken("redraw: stale names", "several", stale=True, model=Tower, hidden=True)
def _(gm, n):
    n.heads_left.target = "heads.right"
    n.tanh.args = (n.image,)


@broken("redraw: a tensor deep in the result", "places", model=Tower, hidden=True)
def _(gm, n):
    n.output.args = ([{"a": [n.heads_left, (slice(torch.ones(1)),)]}],)


@broken("redraw: foreign and too early", "several", model=Tower, hidden=True)
def _(gm, n):
    copy.deepcopy(n.matmul).args = (n.stem_weight,)
    n.tanh.args = (n.matmul,)


@broken("redraw: dots below", "several", model=Tower, hidden=True)
def _(gm, n):
    own_parameters(gm.heads.left)["weight.raw"] = None
    own_modules(gm.heads)["mid.dle"] = nn.ReLU()
    n.heads_left.target = "heads.mid.dle"


@broken("redraw: output first", "several", model=Tower, hidden=True)
def _(gm, n):
    n.stem.prepend(n.output)


@broken("redraw: a deleted weight", "several", model=Tower, hidden=True)
def _(gm, n):
    gm.stem.weight = None
    del gm.stem.weight
    gm.graph.output(n.image)


@broken("redraw: an erased reader", "several", stale=True, model=Tower, hidden=True)
def _(gm, n):
    with gm.graph.inserting_before(n.output):
        ghost = gm.graph.call_function(operator.neg, (n.tanh,))
    gm.graph.erase_node(ghost)
    ghost.kwargs = {"x": [n.image]}
