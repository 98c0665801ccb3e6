"""Calls for `all_arguments`, of every kind and in every spelling."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from types import BuiltinFunctionType
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

from autograder.authoring.models import T, Trial, arguments, fresh


def scaled(value, factor=2.0, *, shift=0, mode="sum"):
    """A Python function with defaults; a leaf of the traces below."""
    return value * factor + shift


def paired(first, /, second, third=(1, 2)):
    """A function whose first parameter is positional-only."""
    return first + second


def logged(function):
    """A decorator; its wrapper could log calls."""

    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


@logged
def halved(value, by=2.0):
    """A decorated function."""
    return value / by


fx.wrap("scaled")
fx.wrap("halved")
fx.wrap("paired")
fx.wrap("sqrt")


# ------------------------------------------------------------------ Python functions


class Functions(nn.Module):
    def forward(self, x):
        a = F.relu(x)
        b = F.dropout(a, 0.1, inplace=False, training=False)
        return F.softmax(b, dim=-1), F.layer_norm(x, [3], eps=1e-6)


class OwnFunctions(nn.Module):
    """Functions in this file, with defaults of several kinds."""

    def forward(self, x, y):
        a = scaled(x, shift=y)
        b = paired(a, y)
        return scaled(b, 3, mode="mean"), paired(b, second=x, third=[a, y])


class Decorated(nn.Module):
    """`halved` has the parameters `value` and `by`, and a decorator with `functools.wraps`."""

    def forward(self, x):
        return halved(x), halved(x, by=4.0)


class Operators(nn.Module):
    def forward(self, x, y):
        a = x + y
        b = 2 - a
        return b[..., 0:2], -b, a @ y.T, (x > 0) & (y != 0)


class OfTorchAndMath(nn.Module):
    """All of these functions have a signature."""

    def forward(self, x):
        return torch.split(x, 2, dim=1), torch.norm(x, dim=1), sqrt(x.size(0))


# ------------------------------------------------------------------ modules


class Scale(nn.Module):
    """A module whose `forward` has defaults; the traces below do not open it."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, value, factor=0.5, *, shift=None, flip=False):
        return value * self.weight * factor


class Modules(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.block = nn.Sequential(nn.ReLU(), Scale())

    def forward(self, x):
        a = self.linear(x)
        b = self.block[1](self.linear(input=a), shift=x)
        return self.block(b), self.block[1](factor=2, value=b, flip=True)


class KeepScale(fx.Tracer):
    """Keeps each `Scale` as one call."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a module is called as a whole."""
        return isinstance(m, Scale) or super().is_leaf_module(m, module_qualified_name)


# ------------------------------------------------------------------ ATen graphs


class ForAten(nn.Module):
    """Recorded as an ATen graph."""

    def forward(self, x, y):
        a = (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)).to(torch.float32)
        b = torch.cat([a, y.float()], dim=1).reshape(-1, 2).transpose(0, 1)
        return b.sum(dtype=torch.float64), a.softmax(-1)[:, 1:], torch.relu(a - 1), y.half()


class MoreAten(nn.Module):
    """Recorded as an ATen graph."""

    def forward(self, x, y):
        a = torch.addmm(x.sum(0), x.t(), y, beta=0.5)
        b = a.clamp(min=0.0), a.std(0, correction=0), a.unsqueeze(1).expand(-1, 2, -1)
        c = torch.topk(a, 2), F.gelu(a, approximate="tanh"), F.hardtanh(a), a.roll(1, 0)
        return b, c, (a > 0).all()


# ------------------------------------------------------------------ without an answer


class NothingKnown(nn.Module):
    """An attribute and methods, whose class is unknown before the graph runs."""

    def forward(self, x):
        return x.shape, x.T.float(), x.polish(2), x.softmax(-1), x.relu()


class Builtins(nn.Module):
    """Functions with several schemas, for any arguments."""

    def forward(self, x, y):
        a = torch.add(x, y), torch.add(input=x, other=2, alpha=3), torch.max(x, 0, True)
        return a, torch.sum(x, dim=1), torch.std(x, 1), torch.add(x, y, out=y)


class DoNotFit(nn.Module):
    """Calls that no trace would record: missing, extra and unknown arguments."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def calls(self, graph, x):
        aten = torch.ops.aten
        graph.call_function(F.relu, (x, True, 3))
        graph.call_function(F.dropout, (), {"p": 0.5})
        graph.call_function(operator.add, (x,))
        graph.call_function(scaled, (x, 1, 2))
        graph.call_function(paired, (), {"first": x, "second": x})
        graph.call_function(aten.relu.default, (x, 1))
        graph.call_function(aten.add.Tensor, (x,))
        graph.call_function(aten.add.Tensor, (x, x), {"other": x})
        graph.call_function(aten.sum.dim_IntList, (x, [1]), {"keep": True})
        graph.call_module("layer", (x, x))
        graph.call_module("layer")
        graph.call_module("layer", (x,), {"scale": 2})


# ------------------------------------------------------------------ making graphs


@dataclass(frozen=True)
class Traced:
    """Traces a model with FX.

    Attributes:
        owned: whether the graph belongs to a graph module.
    """

    owned: bool = True

    def __call__(self, model: nn.Module, inputs: tuple[Any, ...]) -> tuple[fx.Graph, nn.Module]:
        """The graph, and the module that its paths refer to."""
        if isinstance(model, fx.GraphModule):
            return model.graph, model
        graph = KeepScale().trace(model)
        if not self.owned:
            graph.owning_module = None
            return graph, model
        gm = fx.GraphModule(model, graph)
        return gm.graph, gm


@dataclass(frozen=True)
class ByHand:
    """Builds the graph of a module by calling its method `calls`."""

    def __call__(self, model: Any, inputs: tuple[Any, ...]) -> tuple[fx.Graph, nn.Module]:
        """The graph, without an owning module, and the module."""
        graph = fx.Graph()
        x = graph.placeholder("x")
        model.calls(graph, x)
        graph.output(x)
        return graph, model


@dataclass(frozen=True)
class Recorded:
    """Records the ATen graph of a model."""

    def __call__(self, model: nn.Module, inputs: tuple[Any, ...]) -> tuple[fx.Graph, nn.Module]:
        """The graph, and its module."""
        from torch.fx.experimental.proxy_tensor import make_fx

        with torch.no_grad():
            gm = make_fx(copy.deepcopy(model))(*copy.deepcopy(inputs))
        return gm.graph, gm


@dataclass(frozen=True)
class Calls:
    """Builds the objects of a case.

    Attributes:
        make: builds the model.
        how: makes its graph.
        inputs: example inputs for recording.
    """

    make: Callable[[], nn.Module]
    how: Any = Traced()
    inputs: tuple[T, ...] = ()

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed)
        inputs = arguments(self.inputs, torch.Generator().manual_seed(seed), torch.float64)
        return asked_about(model, *self.how(model, inputs))


def asked_about(model: nn.Module, graph: fx.Graph, root: nn.Module) -> Trial:
    """A trial with all calls of a graph."""
    asked = Asked(graph, root)
    names = tuple((node.name,) for node in asked.calls)
    return Trial(args=(asked,), model=model, inputs=names, watch=(root,))


@dataclass(frozen=True, eq=False)
class Asked:
    """Calls the answer for the calls of a graph, by node name."""

    graph: fx.Graph
    root: nn.Module

    says = "{name}(node, root), for the calls in the graph of the model; root holds its modules"

    @property
    def calls(self) -> list[fx.Node]:
        """The tested calls."""
        return [node for node in self.graph.nodes if node.op.startswith("call_") and tried(node)]

    def __call__(self, answer: Callable[..., Any]) -> Callable[[str], Any]:
        """Return a function that calls the answer for the node with a given name."""
        calls = {node.name: node for node in self.calls}
        return lambda name: answer(calls[name], self.root)


def tried(node: fx.Node) -> bool:
    """Whether a call is tested: none with a device, and only torch builtins in `SEVERAL`."""
    if any(isinstance(value, torch.device) for value in (*node.args, *node.kwargs.values())):
        return False
    is_builtin = isinstance(node.target, BuiltinFunctionType)
    of_torch = getattr(torch, getattr(node.target, "__name__", ""), None) is node.target
    return not (is_builtin and of_torch) or node.target in SEVERAL


SEVERAL = {torch.add, torch.max, torch.sum, torch.std, torch.pow}
"""Builtins with several schemas, even without the `out` variants."""


def of_random_model(trial: Trial, choice: int) -> Trial:
    """A trial with the trace of a random model, or its ATen graph."""
    model = trial.model
    assert model is not None
    how = Recorded() if choice % 3 == 2 and not isinstance(model, fx.GraphModule) else Traced()
    asked = asked_about(model, *how(model, trial.inputs[0]))
    return replace(asked, functions=trial.functions)
