"""Models for `is_faithful`, some with a faithful trace and some without."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101, D103

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn

from autograder.authoring.models import RandomState, Trial, arguments, fresh

# ------------------------------------------------------------------ branches


class Affine(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x, scale=2.0):
        return torch.relu(self.linear(x)) * scale


class AbsIfTensor(nn.Module):
    def forward(self, x):
        return x.abs() if isinstance(x, Tensor) else x


class DivideByLength(nn.Module):
    def forward(self, x):
        return x / len(x)


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Tanh()

    def forward(self, x):
        return self.act(x) + 1


def root_hook(model: nn.Module) -> None:
    """Add a hook to the model itself."""
    model.register_forward_hook(lambda module, args, result: result * 2)


def adds_in_place() -> fx.GraphModule:
    """A graph module with a node that tracing never makes."""
    graph = fx.Graph()
    graph.output(graph.call_function(operator.iadd, (graph.placeholder("x"), 1)))
    return fx.GraphModule(nn.Module(), graph)


# ------------------------------------------------------------------ results


class OneOrTrue(nn.Module):
    def forward(self, x):
        return x, 1 if isinstance(x, Tensor) else True


class TupleOrList(nn.Module):
    def forward(self, x):
        return (x, x + 1) if isinstance(x, Tensor) else [x, x + 1]


class OneKeyMore(nn.Module):
    def forward(self, x):
        result = {"x": x}
        return result if isinstance(x, Tensor) else {**result, "y": x}


class NumberOrTensor(nn.Module):
    def forward(self, x):
        return 0.0 if isinstance(x, Tensor) else (x * 0).sum()


class DoubleIfTensor(nn.Module):
    def forward(self, x):
        return x.double() if isinstance(x, Tensor) else x


class RowIfTensor(nn.Module):
    def forward(self, x):
        return x.sum(dim=0, keepdim=True) if isinstance(x, Tensor) else x.sum(dim=0)


class AlmostTheSame(nn.Module):
    def forward(self, x):
        return x * (1 + 1e-12) if isinstance(x, Tensor) else x


class SlightlyOff(nn.Module):
    def forward(self, x):
        return x * 1.001 if isinstance(x, Tensor) else x


class RootOfNegative(nn.Module):
    def forward(self, x):
        return torch.sqrt(-x.abs() - 1)


class NanOrZero(nn.Module):
    def forward(self, x):
        return x * float("nan") if isinstance(x, Tensor) else x * 0


class NanOrOne(nn.Module):
    def forward(self, x):
        return x, float("nan") if isinstance(x, Tensor) else 1.0


class OneOrNan(nn.Module):
    def forward(self, x):
        return x, 1.0 if isinstance(x, Tensor) else float("nan")


class OtherKey(nn.Module):
    def forward(self, x):
        return {"tensor" if isinstance(x, Tensor) else "other": x * 2}


class Largest(nn.Module):
    def forward(self, x):
        return torch.max(x, dim=-1)


class WithoutGradients(nn.Module):
    """The trace has no `no_grad`, but computes the same values."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        with torch.no_grad():
            return self.linear(x)


# ------------------------------------------------------------------ random numbers


class FrozenNoise(nn.Module):
    def forward(self, x):
        return x + torch.randn(3)


class FreshNoise(nn.Module):
    def forward(self, x):
        return x + torch.randn_like(x)


class MaskedNoise(nn.Module):
    def forward(self, x, mask=None):
        x = x + torch.randn_like(x)
        return x if mask is None else x * mask


class NoiseOnThree(nn.Module):
    def forward(self, x):
        x = x + torch.randn_like(x)
        if isinstance(x, Tensor) and x.shape[-1] != 3:
            raise ValueError("three columns are needed")
        return x


# ------------------------------------------------------------------ arguments


class AddsOne(nn.Module):
    def forward(self, x):
        x += 1
        return x


class Collects(nn.Module):
    def forward(self, x, seen):
        if isinstance(seen, list):
            seen.append(1)
        return x + 1


class FillsGaps(nn.Module):
    def forward(self, x):
        return torch.nan_to_num(x)


class AbsAndLowers(nn.Module):
    def forward(self, x):
        y = x.abs() if isinstance(x, Tensor) else x.clone()
        x.sub_(2)
        return y


# ------------------------------------------------------------------ buffers


class RunningTotal(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(()))

    def forward(self, x):
        self.total.add_(x.sum())
        return x + self.total


class NormedAndOff(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(3)

    def forward(self, x):
        x = self.bn(x)
        return x.abs() if isinstance(x, Tensor) else x


class NormedAndFlat(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(3)

    def forward(self, x):
        return self.bn(x).view(6)


class ClearsItsShift(nn.Module):
    """Tracing clears the buffer, and so does each run of the model."""

    def __init__(self):
        super().__init__()
        self.register_buffer("shift", torch.zeros(3))

    def forward(self, x):
        self.shift.zero_()
        return x + self.shift


class CountsUnread(nn.Module):
    """Tracing increases the count too; no returned value depends on it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls.add_(1)
        return x * 2


class ReadsItsCount(CountsUnread):
    def forward(self, x):
        self.calls = self.calls + 1
        return x * self.calls


class AbsOnceCounted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        y = x.abs() if self.count > 0 else x * 1
        self.count.add_((x * x).sum() + 1)
        return y


def count_from_zero(model: nn.Module) -> None:
    """Set the count to zero."""
    model.count.zero_()


class ReturnsItsCountByName(CountsUnread):
    def forward(self, x):
        self.calls.add_(1)
        return {"x": x * 2, "calls": self.calls}


class ReturnsItsCountInAList(CountsUnread):
    def forward(self, x):
        self.calls.add_(1)
        return [x * 2, self.calls]


class CountsUnderTwoNames(CountsUnread):
    def __init__(self):
        super().__init__()
        self.register_buffer("latest", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.latest = self.latest + 1
        return x * 2


def one_count(model: nn.Module) -> None:
    """Give the one tensor both names."""
    model.latest = model.calls


# ------------------------------------------------------------------ modes


class OffWhileTraining(nn.Module):
    """In eval mode the trace agrees with the model."""

    def forward(self, x):
        return x.abs() if self.training and isinstance(x, Tensor) else x


class PartOff(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = OffWhileTraining()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.part(x)).sin()


def part_in_training(model: nn.Module) -> None:
    """Put only the part into training mode."""
    model.part.train()


class NormedAndOffWhileTraining(NormedAndOff):
    def forward(self, x):
        x = self.bn(x)
        return x.abs() if self.bn.training and isinstance(x, Tensor) else x


def norm_in_eval(model: nn.Module) -> None:
    """Freeze the statistics, as fine-tuning does."""
    model.bn.eval()


# ------------------------------------------------------------------ the same tensor twice


class KnowsItsItem(nn.Module):
    def forward(self, x, items):
        return x * 2 if items[0] is x else x


def given_in_a_list(tuples: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Each tuple with its first argument twice, the second time in a list, as the same object."""
    return [(*args, [args[0]]) for args in tuples]


def given_again(tuples: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Each tuple twice, with the same objects."""
    return [again for args in tuples for again in (args, args)]


# ------------------------------------------------------------------ errors


class AssertsTensor(nn.Module):
    def forward(self, x):
        assert isinstance(x, Tensor), "only tensors"
        return x + 1


class LastRow(nn.Module):
    def forward(self, x):
        return x[-1] if isinstance(x, Tensor) else x[9]


# ------------------------------------------------------------------ trials


@dataclass(frozen=True, eq=False)
class Judged:
    """Builds a trial: a model, and the argument tuples for which the answer judges its trace.

    Attributes:
        make: builds the model.
        inputs: the argument tuples, tensors as `T`.
        training: the model's mode.
        prepare: changes the model after it is built.
        tie: derives argument tuples in which one object occurs more than once.
    """

    make: Callable[[], nn.Module]
    inputs: Sequence[Sequence[Any]]
    training: bool = False
    prepare: Callable[[nn.Module], Any] | None = None
    tie: Callable[[list[tuple[Any, ...]]], list[tuple[Any, ...]]] | None = None

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, training=self.training)
        if self.prepare is not None:
            self.prepare(model)
        generator = torch.Generator().manual_seed(seed + 1)
        tuples = [arguments(specs, generator, torch.float64) for specs in self.inputs]
        if self.tie is not None:
            tuples = self.tie(tuples)
        return Trial(
            args=(model, tuples),
            model=model,
            inputs=tuple(tuples),
            watch=(tuples, RandomState()),
        )
