"""Graph modules for `wellformed`: the models they are made of, and how they are broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import torch
from torch import fx, nn

from autograder.authoring.models import Trial, seed_all

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
class Broken:
    """Builds a broken module.

    Attributes:
        spoil: breaks a fresh trace of the model, whose nodes it is given by name.
        stale: the module is not recompiled afterwards.
        model: what is traced.
    """

    spoil: Break
    stale: bool = False
    model: Callable[[], nn.Module] = Block

    def __call__(self) -> GM:
        """A module, freshly broken."""
        gm = fx.symbolic_trace(self.model())
        self.spoil(gm, SimpleNamespace(**{node.name: node for node in gm.graph.nodes}))
        if not self.stale:
            gm.recompile()
        return gm


@dataclass(frozen=True)
class Checked:
    """Builds a trial: one graph module, which must stay as it is."""

    make: Callable[[], GM]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        with torch.random.fork_rng(devices=[]):
            seed_all(seed)
            gm = self.make()
        return Trial(args=(gm,), watch=(gm,))


def of_another_graph(name: str = "add") -> fx.Node:
    """A node of a graph that is not the one at hand; of `Block`, so the names agree."""
    return next(n for n in fx.symbolic_trace(Block()).graph.nodes if n.name == name)


def erased(gm: GM, n: Nodes) -> fx.Node:
    """A node that was made in this graph and erased again."""
    with gm.graph.inserting_before(n.add):
        ghost = gm.graph.call_function(torch.exp, (n.x,))
    gm.graph.erase_node(ghost)
    return ghost


def node_of(gm: fx.GraphModule, name: str) -> fx.Node:
    """The node of that name."""
    return next(node for node in gm.graph.nodes if node.name == name)
