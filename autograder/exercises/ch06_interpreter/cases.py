"""How cases of chapter 06 are made, and what its random models have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.question import COMMON, Case, Expect, T
from autograder.models.running import ClassTrial, Make, RunTrial

CHAPTER = "06_interpreter"
IMAGE = T(1, 3, 32, 32)
X = T(2, 3)

KINDS = ("", "tensor", "row", "default", "star")
"""The kinds of inputs that a random model may have."""

OTHERS = tuple(op for op in COMMON if "Linear" in op.text or op.outs == 2 or op.column)
"""Operations that an exercise is not about, for models that have many of the others."""


def run_case(
    name: str,
    aspect: str,
    make: Make,
    *inputs: Any,
    prepare: Callable[[nn.Module], Any] | None = None,
    network: bool = False,
    dtype: torch.dtype = torch.float64,
) -> Case:
    """A case of ``answer(model, *inputs)``.

    Args:
        name: the case's name.
        aspect: key of its aspect.
        make: builds the model.
        inputs: the inputs, tensors as `T` or `Exactly`.
        prepare: last touches on the model.
        network: keep the network's own weights.
        dtype: of parameters and of inputs that do not name one.
    """
    return Case(name, aspect, RunTrial(make, inputs, prepare, network, dtype))


def class_case(
    name: str,
    aspect: str,
    make: Make,
    *inputs: tuple[Any, ...],
    tag: Callable[[fx.GraphModule], None] | None = None,
    network: bool = False,
    functions: dict[str, Callable[..., Any]] | None = None,
    expect: Expect = Expect(),  # noqa: B008 - it is frozen
) -> Case:
    """A case of a class that is given a graph module: `make`, traced if it is none yet.

    Args:
        name: the case's name.
        aspect: key of its aspect.
        make: builds the model.
        inputs: argument tuples, tensors as `T` or `Exactly`.
        tag: writes something into the nodes' ``meta``.
        network: keep the network's own weights.
        functions: functions of the case that may stand in a graph, by name.
        expect: what the case demands beyond the reference.
    """
    build = ClassTrial(make, inputs, tag, network, functions or {})
    return Case(name, aspect, build, expect)
