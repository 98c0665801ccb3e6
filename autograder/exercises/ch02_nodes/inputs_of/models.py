"""Models whose nodes read other nodes in every possible way, for `inputs_of`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.models import Trial, fresh


class SameTwice(nn.Module):
    """Nodes that read the same value more than once."""

    def forward(self, x, y):
        return torch.where(x > y, x, x) + (x * x)


class Keywords(nn.Module):
    """Nodes among keyword arguments, and a call without positional arguments."""

    def forward(self, low, high, x):
        bounded = torch.clamp(x, min=low, max=high)
        return torch.add(other=bounded, input=high, alpha=2)


class Listed(nn.Module):
    """Nodes in a list and in a tuple."""

    def forward(self, a, b, c):
        return torch.stack([c, a, c, b]) + torch.cat((b, a))


class Sliced(nn.Module):
    """Nodes in slices that are in tuples."""

    def forward(self, x, start, stop, step):
        rows = x[stop:start:step]
        return rows[..., start:] + x[:, :stop]


class Aggregate(nn.Module):
    """Nodes in dictionaries, lists and tuples of the result."""

    def forward(self, a, b):
        total = a + b
        return {"pair": (b, total), "more": [{"deep": a}, total], "text": "ab", "none": None}


class Texts(nn.Module):
    """Strings, dtypes and other constants next to nodes; one string is also the name of a node."""

    def forward(self, x, y, mode="mean"):
        mean = x.mean()
        product = torch.einsum("ij,kj->ik", y, x) - F.mse_loss(mean, mean, reduction="mean")
        return product.to(torch.float64).permute((1, 0)).unsqueeze(-1)[..., None, True]


class Pair(NamedTuple):
    """A named tuple."""

    first: Any
    second: Any


def by_hand_nested() -> fx.GraphModule:
    """Nodes at every depth that FX allows, in another order than in the graph."""
    graph = fx.Graph()
    a, b, c, d, e = (graph.placeholder(name) for name in "abcde")
    deep = (d, [c, {"k": (b, slice(None, a, None))}], c)
    first = graph.call_function(torch.cat, (deep, 0), {"first": [e, d], "last": {"z": a}})
    kwargs = {"z": slice(c, first, b), "y": {"q": [[[[({"r": [e]},)]]]], "p": (a,)}, "x": a}
    second = graph.call_function(torch.stack, ([], (), {}, slice(None)), kwargs)
    third = graph.call_method("index", ([(second, b)], b, second), {"value": first})
    graph.output({"all": [third, (second, {"inner": slice(None, e)})]})
    return fx.GraphModule(nn.Module(), graph)


def by_hand_wide() -> fx.GraphModule:
    """The same containers in another order and depth, keyword arguments in another order.

    A named tuple is also a tuple.
    """
    graph = fx.Graph()
    p, q, r = (graph.placeholder(name) for name in "pqr")
    item = graph.call_function(operator.getitem, (r, (slice(q, None, p), [[{"i": q}]], Ellipsis)))
    last = graph.call_method("foo", ((r, (r, [q])), [p], item), {"b": [item], "a": {"x": slice(p)}})
    inner = slice((q, [p]), None, {"s": r})
    last = graph.call_function(operator.getitem, (last, Pair(inner, Pair(item, 1))))
    last = graph.call_function(F.mse_loss, (), {"target": last, "input": item})
    graph.output([(last,), {"one": {"two": [[(([item],),)]]}}, slice(r, last)])
    return fx.GraphModule(nn.Module(), graph)


# ------------------------------------------------------------------ trials

OWN_LIST = ((fx.Node, "all_input_nodes"), (fx.Node, "_input_nodes"))


def _traced(model: nn.Module) -> fx.GraphModule:
    return model if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)


@dataclass(frozen=True)
class Traced:
    """Builds a trial: a traced model; the answer is called on each of its nodes."""

    make: Callable[[], nn.Module]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        gm = _traced(fresh(self.make, seed))
        return Trial(args=(gm,), model=gm, forbidden=OWN_LIST)


def as_its_trace(trial: Trial, choice: int) -> Trial:
    """The trial with the model replaced by its trace."""
    gm = _traced(trial.model)
    return replace(trial, args=(gm,), model=gm, forbidden=OWN_LIST)


# ------------------------------------------------------------------ random models


def nested(*values: Any, **named: Any) -> Any:
    """The sum of all tensors among the arguments, at any depth."""
    return _total((values, named))


def _total(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if isinstance(value, dict):
        value = tuple(value.values())
    return sum(map(_total, value)) if isinstance(value, (list, tuple)) else 0
