"""Pairs of models for `equivalent`, which do the same or not."""

# A learner sees these classes as they stand here; their names say what they are for.
# ruff: noqa: D101, D103

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.models import RandomState, Trial, fresh


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.drop(torch.relu(self.norm(self.layer(x)))))


class Same(nn.Module):
    def forward(self, x):
        return x


class Abs(nn.Module):
    """Does the same as `Same` if no entry is negative."""

    def forward(self, x):
        return x.abs()


class TwiceInEval(nn.Module):
    """Does the same as `Same` in train mode."""

    def forward(self, x):
        return x if self.training else 2 * x


class TwiceInTraining(nn.Module):
    """Does the same as `Same` in eval mode."""

    def forward(self, x):
        return 2 * x if self.training else x


# ------------------------------------------------------------------ values


class Pair(nn.Module):
    def forward(self, x):
        return x, x + 1


class PairAsList(nn.Module):
    def forward(self, x):
        return [x, x + 1]


class Named(nn.Module):
    def forward(self, x):
        return {"mean": x.mean(), "all": [x, (x * 2, None)]}


class NamedInATuple(nn.Module):
    """A tuple instead of the list."""

    def forward(self, x):
        return {"mean": x.mean(), "all": (x, (x * 2, None))}


class NamedAnew(nn.Module):
    """One key is a different word."""

    def forward(self, x):
        return {"average": x.mean(), "all": [x, (x * 2, None)]}


class NamedMore(nn.Module):
    def forward(self, x):
        return {"mean": x.mean(), "all": [x, (x * 2, None)], "more": x}


class Single(nn.Module):
    def forward(self, x):
        return x.float()


class Row(nn.Module):
    def forward(self, x):
        return x.sum(dim=0)


class RowKept(nn.Module):
    """Adds a dimension, with the same numbers."""

    def forward(self, x):
        return x.sum(dim=0, keepdim=True)


class Rounded(nn.Module):
    def forward(self, x):
        return x * (1 + 1e-12)


class SlightlyOff(nn.Module):
    def forward(self, x):
        return x * 1.001


class Root(nn.Module):
    """Gives NaN for negative x."""

    def forward(self, x):
        return x.sqrt()


class RootOrZero(nn.Module):
    def forward(self, x):
        return x.sqrt().nan_to_num(0.0)


class WithoutNaN(nn.Module):
    """Its argument may contain NaN, its result does not."""

    def forward(self, x):
        return x.nan_to_num(0.0)


class Flipped(nn.Module):
    """The same numbers in another order."""

    def forward(self, x):
        return x.flip(-1)


class Sized(nn.Module):
    """One result is a Python number."""

    def forward(self, x):
        return {"all": [x, x.numel()]}


class SizedOtherwise(nn.Module):
    def forward(self, x):
        return {"all": [x, x.numel() + 1]}


class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x).t()


class Zeros(nn.Module):
    """Returns positive or negative zeros, which are equal."""

    def forward(self, x):
        return x * 0


class PositiveZeros(nn.Module):
    def forward(self, x):
        return (x * 0).abs()


# ------------------------------------------------------------------ arguments


class AddsInPlace(nn.Module):
    def forward(self, x):
        x.add_(1)
        return x * 2


class AddsRounded(nn.Module):
    """Does the same as `AddsInPlace`, except for rounding."""

    def forward(self, x):
        x.add_(1 + 1e-12)
        return x * 2


class AddsLate(nn.Module):
    """In train mode, changes its argument after computing the result."""

    amount = 1

    def forward(self, x):
        y = x * 2
        if self.training:
            x.add_(self.amount)
        return y


class AddsTwoLate(AddsLate):
    """Returns the same, but adds another number."""

    amount = 2


class Keeps(nn.Module):
    """In eval mode, appends an item to its list argument."""

    def forward(self, x, log):
        if not self.training:
            log.append(x.mean())
        return x * 2


class KeepsNothing(nn.Module):
    def forward(self, x, log):
        return x * 2


# ------------------------------------------------------------------ random numbers


class NoiseFirst(nn.Module):
    def forward(self, x):
        if not self.training:
            return x * 3
        a, b = torch.rand_like(x), torch.rand_like(x)
        return x * (a + 2 * b)


# ------------------------------------------------------------------ state


class Total(nn.Module):
    """Sums up its inputs in a buffer that is not saved."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(()), persistent=False)

    def forward(self, x):
        self.total.add_(x.sum())
        return x + self.total


class ShowsTotal(Total):
    """Returns a view of its total."""

    def forward(self, x):
        self.total.add_(x.sum())
        return self.total[None]


class ShowsTotalOfTwice(Total):
    """Counts everything twice."""

    def forward(self, x):
        self.total.add_(2 * x.sum())
        return self.total[None]


# ------------------------------------------------------------------ the other model


def without_dropout(model: nn.Module) -> nn.Module:
    """A copy whose Dropout does nothing."""
    other = copy.deepcopy(model)
    other.drop = nn.Identity()
    return other


def frozen_and_packed(model: nn.Module) -> nn.Module:
    """A copy with frozen parameters and another memory layout of the result."""
    other = fx.symbolic_trace(copy.deepcopy(model).requires_grad_(False))
    output = next(node for node in other.graph.nodes if node.op == "output")
    with other.graph.inserting_before(output):
        packed = other.graph.call_method("contiguous", (output.args[0],))
    output.args = (packed,)
    other.recompile()
    return other


def counting_twice(model: nn.Module) -> nn.Module:
    """A model that counts everything twice and shares the total."""
    other = ShowsTotalOfTwice().train(model.training)
    other.total = model.total
    return other


def itself(model: nn.Module) -> nn.Module:
    """The same object."""
    return model


def zeroed(model: nn.Module) -> None:
    """Start the count at zero."""
    for buffer in model.buffers():
        buffer.zero_()


def drop_in_eval(model: nn.Module) -> None:
    """Only the Dropout is in eval mode."""
    model.train()
    model.drop.eval()


@dataclass(frozen=True, eq=False)
class Compared:
    """Builds a trial: two models, and a maker of inputs.

    Attributes:
        make: builds the model.
        change: makes the other model from it; a class makes a new one.
        inputs: makes the arguments for a seed.
        trials: number of seeds, if given.
        training: whether both are in train mode.
        prepare: changes both models in the end.
    """

    make: Callable[[], nn.Module]
    change: Callable[..., nn.Module]
    inputs: Callable[[int], tuple[Any, ...]]
    trials: int | None = None
    training: bool = False
    prepare: Callable[[nn.Module], Any] | None = None

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = fresh(self.make, seed, training=self.training)
        if self.prepare is not None:
            self.prepare(model)
        is_class = isinstance(self.change, type)
        other = fresh(self.change, seed) if is_class else self.change(model)
        if is_class and self.prepare is zeroed:
            zeroed(other)
        kwargs = {} if self.trials is None else {"trials": self.trials}
        return Trial(
            args=(model, other, self.inputs),
            kwargs=kwargs,
            model=model,
            watch=(other, RandomState()),
        )


# ------------------------------------------------------------------ random models

_OTHERS = {operator.mul: operator.add, torch.sigmoid: torch.tanh, torch.maximum: torch.minimum}


@dataclass(frozen=True)
class DrawsLike:
    """Makes arguments with the shapes and dtypes of given ones."""

    like: tuple[Any, ...]

    def __call__(self, seed: int) -> tuple[Any, ...]:
        """A new tuple, the same for the same seed."""
        generator = torch.Generator().manual_seed(seed)

        def made(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            return torch.randn(value.shape, generator=generator).to(value.dtype)

        return tuple(made(value) for value in self.like)


def _another_operation(gm: fx.GraphModule, choice: int) -> None:
    """Replace an operation of two operands, or remove a module, if there is one."""
    nodes = [n for n in gm.graph.nodes if n.target in _OTHERS or (n.op == "call_module" and n.args)]
    if not nodes:
        return
    node = nodes[choice % len(nodes)]
    if node.op == "call_function":
        node.target = _OTHERS[node.target]
    else:
        node.replace_all_uses_with(node.args[0])
        gm.graph.erase_node(node)


def _late(gm: fx.GraphModule, module: nn.Module) -> None:
    """Insert a module after one of the results."""
    output = next(node for node in gm.graph.nodes if node.op == "output")
    gm.add_submodule("late", module)
    with gm.graph.inserting_before(output):
        new = gm.graph.call_module("late", (output.all_input_nodes[0],))
    output.replace_input_with(new.args[0], new)


def _late_change(gm: fx.GraphModule) -> None:
    """Change the argument after the results are computed."""
    first = next(iter(gm.graph.nodes))
    with gm.graph.inserting_before(next(n for n in gm.graph.nodes if n.op == "output")):
        gm.graph.call_method("mul_", (first, 0.5))


def _mistaken(gm: fx.GraphModule, choice: int) -> None:
    """Make one mistake in a graph, which may have no visible effect."""
    if choice % 4 == 0:
        _another_operation(gm, choice // 4)
    elif choice % 4 == 1:
        _late(gm, TwiceInEval().train(gm.training))
    elif choice % 4 == 2:
        _late(gm, TwiceInTraining().train(gm.training))
    else:
        _late_change(gm)
    gm.recompile()


def with_another(trial: Trial, choice: int) -> Trial:
    """Add a second model to the trial of a random model, with or without a mistake."""
    model = trial.model
    shared = model if choice % 2 else copy.deepcopy(model)
    other = fx.symbolic_trace(shared)
    if choice % 3:
        _mistaken(other, choice // 3)
    given = trial.inputs[0]
    return replace(
        trial,
        args=(model, other, DrawsLike(given), 2 + choice % 2),
        watch=(other, RandomState()),
    )
