"""Models for `export_ops` whose programs contain branches, other libraries and dead code."""

# A learner sees these classes as they are written here; their names say what they are for.
# ruff: noqa: D101

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import library, nn

from autograder.authoring.models import ModelTrial, Trial

_TENSOR = "(Tensor x) -> Tensor"


@library.custom_op("vendor::scale", mutates_args=(), schema="(Tensor x, float by) -> Tensor")
def scale(x: torch.Tensor, by: float) -> torch.Tensor:
    """An operator of another library."""
    return x * by


@library.custom_op("aten_vendor::twice", mutates_args=(), schema=_TENSOR)
def twice(x: torch.Tensor) -> torch.Tensor:
    """An operator of another library whose name starts like PyTorch's own."""
    return x * 2


@library.custom_op("my_aten::half", mutates_args=(), schema=_TENSOR)
def half(x: torch.Tensor) -> torch.Tensor:
    """An operator of another library whose name ends like PyTorch's own."""
    return x / 2


scale.register_fake(lambda x, by: torch.empty_like(x))
twice.register_fake(lambda x: torch.empty_like(x))
half.register_fake(lambda x: torch.empty_like(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)

    def forward(self, x):
        return self.second(torch.relu(self.first(x))).relu() + x


class Flat(nn.Module):
    def forward(self, x):
        return torch.relu(x).reshape(x.shape[0], -1)


class Overloads(nn.Module):
    def forward(self, x, y):
        z = x + y + 1.0
        return (z.sum() + z.sum(dim=0)) * 2 * y


class OneCond(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: y.sin().relu(), lambda y: y.sin().cos(), (x,))


class NestedCond(nn.Module):
    """Nested conditions; one chooses between two equal branches."""

    def forward(self, x):
        def third(z):
            return torch.cond(z.max() > 9, torch.erf, torch.abs, (z,))

        def small(y):
            z = torch.cond(y.min() < -2, torch.exp, torch.exp, (y.neg(),)).tanh()
            return torch.cond(z.sum() > 0, third, torch.tanh, (z,))

        return torch.cond(x.max() > 2, torch.tanh, small, (x,))


class WithoutGradients(nn.Module):
    """The lines without gradients become a separate graph."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        with torch.no_grad():
            mean = self.layer(x).tanh().mean()
        return self.layer(x) - mean


class Vendors(nn.Module):
    def forward(self, x):
        return half(twice(scale(x, 2.0))).exp()


class Break(nn.Module):
    """Export accepts a graph break; with `strict=True` it would refuse."""

    def forward(self, x):
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos()


class Constant(nn.Module):
    """Export adds operators for a constant; one value is computed twice."""

    def forward(self, x):
        y = x.detach() + torch.tensor(1.0)
        return y.sin() * y.sin()


class DeadCode(nn.Module):
    def forward(self, x):
        x.tanh()
        torch.relu(x).sin()
        return x.cos()


class Norms(nn.Module):
    """In training mode, a BatchNorm counts batches, and a dropout is active."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        x = self.drop(self.norm(self.linear(x)))
        return x if self.training else x.relu()


def frozen_norm(model: nn.Module) -> None:
    """Put one part into eval mode, regardless of the others."""
    model.norm.eval()


class Exported(ModelTrial):
    """Builds the objects of a case of ``answer(model, args)``."""

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        trial = super().__call__(seed)
        args: tuple[Any, ...] = trial.inputs[0]
        return replace(trial, args=(trial.model, args), watch=(args,))


class ExportedWithGradients(Exported):
    """The same, with arguments that require gradients."""

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        trial = super().__call__(seed)
        for value in trial.inputs[0]:
            value.requires_grad_()
        return trial
