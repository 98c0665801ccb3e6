"""How cases of chapter 06 are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn

from autograder.core.exercise import Case, Trial
from autograder.models import T, fresh
from autograder.models import networks as networks
from autograder.models.build import arguments

CHAPTER = "06_interpreter"
IMAGE = T(1, 3, 32, 32)
X = T(2, 3)

Make = Callable[[], nn.Module]


def made(make: Make, seed: int, network: bool, dtype: torch.dtype) -> nn.Module:
    """A case's model: a real network with its own weights, or a small one with random ones."""
    if network:
        return networks.real(make, seed)
    return fresh(make, seed, dtype=dtype)


def run_case(
    name: str,
    aspect: str,
    make: Make,
    *inputs: Any,
    prepare: Callable[[nn.Module], Any] | None = None,
    values: Callable[[], tuple[Any, ...]] | None = None,
    network: bool = False,
    dtype: torch.dtype = torch.float64,
    hidden: bool = False,
) -> Case:
    """A case of ``answer(model, *inputs)``.

    Args:
        name: the case's name.
        aspect: key of its aspect.
        make: builds the model.
        inputs: the inputs, tensors as `T`.
        prepare: last touches on the model.
        values: makes the inputs, where they are not random.
        network: keep the network's own weights.
        dtype: of parameters and of inputs that do not name one.
        hidden: tried only when a submission is graded.
    """

    def trial(seed: int) -> Trial:
        model = made(make, seed, network, dtype)
        if prepare is not None:
            with torch.no_grad():
                prepare(model)
        generator = torch.Generator().manual_seed(seed + 1)
        kind = torch.float32 if network else dtype
        given = values() if values is not None else arguments(inputs, generator, kind)
        return Trial(args=(model, *given), model=model, inputs=(given,))

    return Case(name, aspect, trial, hidden)


def class_case(
    name: str,
    aspect: str,
    make: Make,
    *inputs: tuple[Any, ...],
    values: Callable[[], tuple[tuple[Any, ...], ...]] | None = None,
    tag: Callable[[fx.GraphModule], None] | None = None,
    network: bool = False,
    hidden: bool = False,
    **expect: Any,
) -> Case:
    """A case of a class that is given a graph module: `make`, traced.

    Args:
        name: the case's name.
        aspect: key of its aspect.
        make: builds the model.
        inputs: argument tuples, tensors as `T`.
        values: makes the argument tuples, where they are not random.
        tag: writes something into the nodes' ``meta``.
        network: keep the network's own weights.
        hidden: tried only when a submission is graded.
        expect: what the rules of the exercise read.
    """

    def trial(seed: int) -> Trial:
        gm = fx.symbolic_trace(made(make, seed, network, torch.float64))
        if tag is not None:
            tag(gm)
        generator = torch.Generator().manual_seed(seed + 1)
        kind = torch.float32 if network else torch.float64
        rows = values() if values is not None else inputs
        given = tuple(arguments(specs, generator, kind) for specs in rows)
        return Trial(args=(gm,), model=gm, inputs=given)

    return Case(name, aspect, trial, hidden, expect)
