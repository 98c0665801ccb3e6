"""Models for `CountingBackend`, and the ways to run its backends."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.exercises.ch11_pytorch2.models import Compiled, Run, with_gradients

NOTES: list[str] = []
"""`noted` appends a word whenever it runs."""


@fx.wrap
def noted(x: torch.Tensor) -> torch.Tensor:
    """Return `x + 1`, and record that it ran."""
    NOTES.append("ran")
    return x + 1


class ThreeCalls(nn.Module):
    def forward(self, x):
        return torch.relu(x).tanh() + 1


class Repeated(nn.Module):
    """The same operations several times, as functions and as methods; one result is not read."""

    def forward(self, x):
        x.cos()
        total = torch.sin(torch.sin(x)) + x.sin().add(1) + 1
        last = total.sum()
        return {"total": total, "both": (x, last)}


class Layers(nn.Module):
    """Dynamo records the operations of layers, not the layers; two pieces are unpacked."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.act = nn.GELU()

    def forward(self, x):
        left, right = self.act(self.linear(x)).chunk(2, dim=-1)
        return left * right


class Break(nn.Module):
    """Dynamo ends a graph in the middle and begins another one."""

    def forward(self, x):
        y = torch.relu(x)
        torch._dynamo.graph_break()
        return torch.relu(y) * 2


class NothingToDo(nn.Module):
    """Without an operation there is no graph."""

    def forward(self, x):
        return x


class Attributes(nn.Module):
    """Reading a shape is a call of `getattr`; one input has a default."""

    def forward(self, x, scale=2.0):
        return (x.T * scale).reshape(x.shape)


class Block(nn.Module):
    """Nested modules, called twice; a parameter is read."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.sigmoid = nn.Tanh()
        self.gain = nn.Parameter(torch.ones(3))

    def forward(self, x):
        self.sigmoid(x)
        return self.body(self.body(x)).relu() * self.gain + F.relu(x)


class Waves(nn.Module):
    """Functions and methods; a result is not read."""

    def forward(self, x):
        x.exp()
        return torch.cos(torch.cos(x)).relu() * F.relu(x) - x.abs()


class Alike(nn.Module):
    """Paths with equal ends lead to modules of two classes; names end in `_` or contain a dot."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid())
        self.second = nn.Sequential(nn.Tanh(), nn.Linear(3, 3))

    def forward(self, x):
        y = self.second(self.first(x)).add_(1) - torch.ops.aten.neg.default(x)
        return torch.abs_(y.add(2) * 3).abs() + x


class WritesItsInput(nn.Module):
    def forward(self, x):
        x.add_(1)
        return x * 2


class Notes(nn.Module):
    """A function that records its runs, and a value that is not read."""

    def forward(self, x, y):
        x.exp()
        return noted(x) * y


def figures(backend: Any) -> dict[str, Any]:
    """The figures of a backend."""
    return {"graphs": backend.graphs, "ops": copy.copy(backend.ops)}


@dataclass(frozen=True)
class Counting(Compiled):
    """The model compiled with one backend; each result comes with the backend's figures."""

    says = "torch.compile(model, backend={name}())"

    def __call__(self, answer: Any) -> Run:
        """Compile the model with a new backend."""
        backend = answer()
        return noting(backend, torch.compile(self.model, backend=backend))


def noting(backend: Any, call: Run) -> Run:
    """A call that also returns the backend's figures before and after it."""

    def run(*inputs: Any) -> dict[str, Any]:
        before = figures(backend)
        return {"before": before, "result": call(*inputs), "after": figures(backend)}

    return run


class Training(Counting):
    """The same, with gradients."""

    def __call__(self, answer: Any) -> Run:
        """Compile the model with a new backend, and compute gradients."""
        backend = answer()
        compiled = torch.compile(self.model, backend=backend)
        return noting(backend, with_gradients(compiled, self.model))


class TwoBackends(Counting):
    """Two backends, one for the model and one for a function; each reports its own figures."""

    says = "two backends, {name}() each, one for the model and one for torch.cos"

    def __call__(self, answer: Any) -> Run:
        """Compile the model and the function, and call both."""
        first, second = answer(), answer()
        model = torch.compile(self.model, backend=first)
        function = torch.compile(lambda x: torch.cos(x), backend=second)

        def both(x: Any) -> Any:
            return model(x), function(x), figures(second)

        return noting(first, both)


class CountingByHand(Counting):
    """Calls the backend directly in each run, and records what the call changes."""

    says = "{name}()(fx.symbolic_trace(model), example_inputs)"

    def __call__(self, answer: Any) -> Run:
        """Call the backend with a trace, and then its result."""
        gm = fx.symbolic_trace(copy.deepcopy(self.model)).train()
        backend = answer()

        def run(*inputs: Any) -> dict[str, Any]:
            NOTES.clear()
            before, examples = _looks_of(gm), copy.deepcopy(list(self.examples))
            call = backend(gm, examples)
            return {
                "runs nothing": not NOTES,
                "same graph": before == _looks_of(gm),
                "same inputs": len(examples) == len(self.examples)
                and all(map(torch.equal, examples, self.examples)),
                **noting(backend, call)(*inputs),
            }

        return run


class TrainingByHand(Counting):
    """Calls the backend directly; gradients are those of the graph module that it gets."""

    says = "{name}()(gm, example_inputs), gm = fx.symbolic_trace(model)"

    def __call__(self, answer: Any) -> Run:
        """Call the backend once, and compute gradients of its result."""
        gm = fx.symbolic_trace(copy.deepcopy(self.model))
        backend = answer()
        call = backend(gm, copy.deepcopy(list(self.examples)))
        return noting(backend, with_gradients(call, gm))


def _looks_of(gm: fx.GraphModule) -> tuple[Any, ...]:
    """A snapshot: the graph, its code, the keys in the nodes' `meta`, and the modules' modes."""
    metas = [sorted(map(str, node.meta)) for node in gm.graph.nodes]
    return str(gm.graph), gm.code, metas, [module.training for module in gm.modules()]
