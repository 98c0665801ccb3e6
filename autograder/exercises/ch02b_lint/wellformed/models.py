"""Graph modules for `wellformed`: the models they are made of, and the way to break them."""

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
    """Modules on two levels, a parameter, a buffer; nodes in a list, a slice and keywords."""

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
    """A second model to break: other names, another depth, a dictionary as result."""

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
        spoil: breaks a fresh trace of the model; takes its nodes by name.
        stale: whether the module is not recompiled afterwards.
        model: builds the model to trace.
    """

    spoil: Break
    stale: bool = False
    model: Callable[[], nn.Module] = Block

    def __call__(self) -> GM:
        """A freshly broken module."""
        gm = fx.symbolic_trace(self.model())
        self.spoil(gm, SimpleNamespace(**{node.name: node for node in gm.graph.nodes}))
        if not self.stale:
            gm.recompile()
        return gm


@dataclass(frozen=True)
class Checked:
    """Builds a trial: one graph module, which the answer must not change."""

    make: Callable[[], GM]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        with torch.random.fork_rng(devices=[]):
            seed_all(seed)
            gm = self.make()
        return Trial(args=(gm,), watch=(gm,))


def of_another_graph() -> fx.Node:
    """A node of another graph; this is also a trace of `Block`, so the names agree."""
    return node_of(fx.symbolic_trace(Block()), "add")


def erased(gm: GM, n: Nodes) -> fx.Node:
    """A node that was made in this graph and then erased."""
    with gm.graph.inserting_before(n.add):
        ghost = gm.graph.call_function(torch.exp, (n.x,))
    gm.graph.erase_node(ghost)
    return ghost


def node_of(gm: fx.GraphModule, name: str) -> fx.Node:
    """The node with this name."""
    return next(node for node in gm.graph.nodes if node.name == name)
