"""Cases and vocabulary for random models that exercises of chapter 06 share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import fx, nn

from autograder.authoring.question import COMMON, Case, Expect, T
from autograder.models.running import ClassTrial, Make, RunTrial

CHAPTER = "06_interpreter"
IMAGE = T(1, 3, 32, 32)
X = T(2, 3)

KINDS = ("", "tensor", "row", "default", "star")
"""The kinds of inputs that a random model may have."""

OTHERS = tuple(op for op in COMMON if "Linear" in op.text or op.outs == 2 or op.column)
"""Operations that do not matter to an exercise, for models with many of the others."""


def run_case(
    name: str,
    aspect: str,
    make: Make,
    *inputs: Any,
    prepare: Callable[[nn.Module], Any] | None = None,
    network: bool = False,
) -> Case:
    """A case of ``answer(model, *inputs)``.

    Args:
        name: the case's name.
        aspect: key of its aspect.
        make: builds the model.
        inputs: the inputs, tensors as `T` or `Exactly`.
        prepare: changes the model after it is built.
        network: whether the network keeps its own weights.
    """
    return Case(name, aspect, RunTrial(make, inputs, prepare, network))


def class_case(
    name: str,
    aspect: str,
    make: Make,
    *inputs: tuple[Any, ...],
    tag: Callable[[fx.GraphModule], None] | None = None,
    functions: dict[str, Callable[..., Any]] | None = None,
    expect: Expect = Expect(),  # noqa: B008 - it is frozen
) -> Case:
    """A case of a class that takes a graph module: the model, traced if necessary.

    Args:
        name: the case's name.
        aspect: key of its aspect.
        make: builds the model.
        inputs: argument tuples, tensors as `T` or `Exactly`.
        tag: writes entries into the nodes' ``meta``.
        functions: functions of the case that graphs may call, by name.
        expect: requirements of the case beyond the reference.
    """
    return Case(name, aspect, ClassTrial(make, inputs, tag, functions or {}), expect)
