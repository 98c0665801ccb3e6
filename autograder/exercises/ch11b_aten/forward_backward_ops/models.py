"""Models for `forward_backward_ops` with different kinds of forward and backward graphs."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from autograder.authoring.models import T, Trial, arguments, fresh


class TwoLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 2)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Norms(nn.Module):
    """In training mode, the BatchNorm and the unsaved buffer `calls` change."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("calls", torch.zeros(()), persistent=False)

    def forward(self, x):
        self.calls.add_(1)
        return torch.tanh(self.norm(self.linear(x)))


class NoneUsed(nn.Module):
    """Its parameters require gradients, but the result depends on none of them."""

    def __init__(self):
        super().__init__()
        self.unused = nn.Linear(3, 3)

    def forward(self, x):
        return x.sin() * 2


class OneUnused(nn.Module):
    """One of two layers is not called, so its parameters do not affect the result."""

    def __init__(self):
        super().__init__()
        self.unused = nn.Linear(3, 2)
        self.used = nn.Linear(3, 2)

    def forward(self, x):
        return self.used(x).sigmoid()


class WithConstant(nn.Module):
    """`forward` makes a tensor, which the graph reads as an attribute."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        return self.linear(x) * torch.tensor([1.0, 2.0])


class ChangesItsInput(nn.Module):
    """The second input is changed in place."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x, cache):
        cache.mul_(2)
        return self.linear(x) + cache


def frozen(model: nn.Module) -> None:
    """Let no parameter require gradients."""
    model.requires_grad_(False)


def half_frozen(model: nn.Module) -> None:
    """Let the first parameters require no gradients."""
    next(model.children()).requires_grad_(False)


def frozen_norm(model: nn.Module) -> None:
    """Put one part into eval mode, regardless of the others."""
    model.norm.eval()


def with_gradients(model: nn.Module) -> None:
    """Set gradients as after an earlier backward pass, except for one parameter."""
    _, *others = model.parameters()
    for parameter in others:
        parameter.grad = torch.full_like(parameter, 0.5)


@dataclass(frozen=True)
class Differentiated:
    """Builds the objects of a case of ``forward_backward_ops(model, args)``, in training mode.

    Attributes:
        make: builds the model.
        args: its arguments, tensors as `T`.
        prepare: changes the model in the end.
    """

    make: Callable[[], nn.Module]
    args: tuple[T, ...]
    prepare: Callable[[nn.Module], Any] | None = None

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, training=True, dtype=torch.float32)
        if self.prepare is not None:
            self.prepare(model)
        generator = torch.Generator().manual_seed(seed + 1)
        args = arguments(self.args, generator, torch.float32)
        return Trial(args=(Asked(model, args),), model=model, inputs=(args,), watch=(args,))


@dataclass(frozen=True, eq=False)
class Asked:
    """Calls the answer with a model and its arguments, and reports their state afterwards."""

    model: nn.Module
    args: tuple[Any, ...]

    says = "{name}(model, args)"

    def __call__(self, answer: Any) -> Callable[..., Any]:
        """Call the answer; each run then returns the same report."""
        before = left_of(self.model, self.args)
        with torch.enable_grad():
            result = answer(self.model, self.args)
        now = left_of(self.model, self.args)
        return lambda *_: {"result": result, "before": before, "now": now}


def left_of(model: nn.Module, args: tuple[Any, ...]) -> dict[str, Any]:
    """The `requires_grad` and the gradient of each parameter and argument."""
    named = dict(model.named_parameters())
    named.update((f"argument {i + 1}", arg) for i, arg in enumerate(args))
    return {
        name: (tensor.requires_grad, None if tensor.grad is None else tensor.grad.clone())
        for name, tensor in named.items()
    }
