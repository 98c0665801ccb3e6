"""Small models to extract features from, for `extract`."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import Trial, recorded, renamed


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


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(3))
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x + self.shift) * self.linear.weight.sum()


class Signature(nn.Module):
    def forward(self, x, unread, scale=2.0, *more):
        y = torch.sin(x)
        return y * scale + more[0] + unread


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.act = nn.ReLU(inplace=True)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.act(self.norm(x)) * 2)


@dataclass(frozen=True, eq=False)
class Wanting:
    """Builds a trial that passes the wanted values to its answer."""

    plain: Callable[[int], Trial]
    wanted: dict[str, str]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        made = self.plain(seed)
        made.args = (made.model, dict(self.wanted))
        return made


UNKNOWN = "no_such.name"
"""A name that no random model has."""


def some_wanted(trial: Trial, choice: int) -> Trial:
    """The trial with up to three names and their keys, for some choices in training mode."""
    model = trial.model
    if isinstance(model, fx.GraphModule) and choice % 2:
        renamed(model)
    if choice % 4 == 1 and not any(isinstance(m, nn.Dropout) for m in model.modules()):
        model.train()
    gm = fx.symbolic_trace(model)
    calls, overwritten = _tensors(gm, trial.inputs[0])
    wanted = {}
    if choice % 8 == 7:
        wanted = {calls[0].name: "key 0", UNKNOWN: "key 1"}
    if overwritten and choice % 8 < 5:
        wanted[overwritten[choice // 3 % len(overwritten)].name] = "key 9"
    for place in range(1 + choice % 3):
        node = calls[-1 - (choice // 5 * (place + 1)) % len(calls)]
        name = node.target if node.op == "call_module" and choice % 7 else node.name
        wanted.setdefault(name, f"key {8 - place}")
        if choice % 8 == 4:  # the same node by its second name
            wanted.setdefault(node.name, f"key {5 - place}")
    return replace(trial, args=(model, wanted))


def _tensors(gm: fx.GraphModule, inputs: tuple[Any, ...]) -> tuple[list[fx.Node], list[fx.Node]]:
    """The nodes with tensors as values, and those of them that later nodes overwrite."""
    record = recorded(gm, inputs)
    nodes = [node for node in gm.graph.nodes if node.op != "output"]
    nodes = [node for node in nodes if isinstance(record.then[node.name], torch.Tensor)]
    changed = [n for n in nodes if not torch.equal(record.then[n.name], record.values[n.name])]
    return nodes, changed
