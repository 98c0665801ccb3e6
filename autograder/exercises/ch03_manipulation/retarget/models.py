"""Models only for `retarget`, and the functions to exchange in a random model."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

from autograder.authoring.models import Trial
from autograder.models import additions


def average(*values: Any, **options: Any) -> Any:
    """A function of the case, whose signature does not name its keyword arguments."""
    return torch.mean(*values, **options)


class SineOfAWeight(nn.Module):
    """One of the two calls of `sin` reads no input."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))

    def forward(self, x):
        return torch.sin(self.weight) * torch.sin(x)


# For each function, functions that accept the same arguments as the calls in the models.
TWINS: dict[Callable[..., Any], tuple[Callable[..., Any], ...]] = {
    torch.add: (torch.sub, torch.rsub),
    torch.mul: (torch.maximum, torch.div, additions.halve),
    torch.sub: (torch.add, torch.mul),
    torch.maximum: (torch.minimum, torch.mul),
    operator.add: (operator.mul, operator.sub, additions.halve),
    operator.mul: (torch.mul, operator.add, operator.sub),
    operator.sub: (operator.add, torch.add),
    torch.sum: (torch.mean, torch.logsumexp),
    torch.relu: (torch.neg, torch.sigmoid, F.silu),
    torch.neg: (torch.relu, torch.sin),
    torch.sigmoid: (torch.tanh, torch.neg),
    torch.cat: (torch.concat,),
    F.relu: (F.silu, F.selu),
    additions.halve: (operator.sub, torch.add),
}


def with_functions(trial: Trial, choice: int) -> Trial:
    """The trial with two functions, if possible with names that other functions also have."""
    model = trial.model
    called = _called(model.graph) if isinstance(model, fx.GraphModule) else _called_in(type(model))

    def has_namesake(function: Callable[..., Any]) -> bool:
        others = [target for target in called if target is not function]
        return any(_name(target) == function.__name__ for target in others)

    found = [old for old in TWINS if old in called] or [torch.add]
    found = [old for old in found if has_namesake(old)] or found
    old = found[choice % len(found)]
    news = [new for new in TWINS[old] if has_namesake(new)] or TWINS[old]
    trial.functions = {"halve": additions.halve}
    trial.args = (model, old, news[choice // 8 % len(news)])
    return trial


@lru_cache(maxsize=64)
def _called_in(cls: type[nn.Module]) -> list[Callable[..., Any] | str]:
    return _called(fx.symbolic_trace(cls()).graph)


def _called(graph: fx.Graph) -> list[Callable[..., Any] | str]:
    return [node.target for node in graph.nodes if node.op.startswith("call_")]


def _name(target: Callable[..., Any] | str) -> str:
    return target if isinstance(target, str) else target.__name__
