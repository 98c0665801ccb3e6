"""Exercise 9.1: a model whose weights hide nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    Expect,
    RandomModels,
    T,
    Vocabulary,
    ops,
)
from autograder.exercises.ch09_debugging.randomize_ import models

HINTS = (
    "`named_parameters()` and `named_buffers()` give every tensor once, those of frozen layers and "
    "those that are not saved, too. Which of them hold floating-point numbers? Which of them must "
    "be positive?",
    "A generator of your own leaves the global random state alone: "
    "`torch.Generator().manual_seed(seed)`. Make it once for each call, not once for each tensor. "
    "`tensor.copy_(...)` under `torch.no_grad()` writes into the tensor that is there, and keeps "
    "its dtype.",
    "```python\n"
    "generator = ...\n"
    "with torch.no_grad():\n"
    "    for name, tensor in [*..., *...]:\n"
    "        if ...:                      # whole numbers stay\n"
    "            continue\n"
    "        new = torch.randn(tensor.shape, generator=generator)\n"
    "        if ...:                      # a variance\n"
    "            new = ...\n"
    "        ...                          # into the tensor that is there\n"
    "return model\n"
    "```",
)


@dataclass(frozen=True)
class Shallow(Expect):
    """The requirements of a case.

    Attributes:
        shallow: whether deleting any BatchNorm must change the output visibly.
    """

    shallow: bool = False


def seeded(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: Any,
    number: int = 17,
) -> Case:
    """A case: a new model, a seed, and inputs if deleting a BatchNorm must be visible."""
    build = models.Seeded(make, number, inputs)
    return Case(name, aspect, build, Shallow(shallow=bool(inputs)))


VOCABULARY = Vocabulary(
    ops(
        "[nn.Linear(D, D)]({x})",
        "[nn.LayerNorm(D)]({x})",
        "{a} * [nn.Parameter(torch.ones(D))]",
        "{a} * [nn.Parameter(torch.zeros(()), requires_grad=False)]",
        "{a} + [buffer(torch.zeros(1))]",
        "{x} + [buffer(torch.arange(D))]",
        dims=(1, 4),
    )
    + ops("[nn.BatchNorm1d(D)]({x})", "[nn.BatchNorm1d(D, affine=False)]({x})", dims=(2, 2))
    + ops("[nn.BatchNorm2d(C)]({x})", "[nn.Conv2d(C, C, 1)]({x})", dims=(4, 4))
    + COMMON[:4],
    shapes=((2, 3), (2, 1, 3), (1, 2, 4, 4)),
    dtypes=(torch.float64, torch.float32),
)


EXERCISE = Exercise(
    number=1,
    title="Weights that hide nothing",
    stars=1,
    minutes=6,
    points=3,
    kind="in_place_seeded",
    aspects=(
        Aspect("task", 2, "random values in place, from the seed alone"),
        Aspect("buffers", 1, "floating buffers, and only those; variances are positive"),
        Aspect("tied", 1, "tensors with two names stay one tensor"),
        Aspect("kinds", 1, "frozen parameters, single numbers, every floating dtype"),
    ),
    cases=(
        seeded("a small network", "task", models.Net, (T(5, 4),)),
        seeded("images", "buffers", models.Images, (T(2, 3, 6, 6),), number=21),
        seeded("buffers of every kind", "buffers", models.Buffers, number=22),
        seeded("tied weights", "tied", models.Tied, number=27),
        seeded("a frozen layer", "kinds", models.Frozen, number=31),
        seeded("single numbers", "kinds", models.Scalars, number=25),
        seeded("several precisions", "kinds", models.Precisions, number=24),
    ),
    fine_print={
        "Tensors with a single entry count, too.": ("single numbers",),
        (
            "Tensors with a single entry count, too. So do frozen parameters, buffers that are "
            "not saved, and every floating dtype."
        ): ("a frozen layer", "several precisions"),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.with_a_seed),
)
