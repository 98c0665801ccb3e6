"""Exercise 14.2: choose scales from values seen in runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    RandomModels,
    T,
    Vocabulary,
    ops,
)
from autograder.exercises.ch14_quantization.Calibrator import models
from autograder.models.running import Exactly

HINTS = (
    "**Where to look.** `Lowest` in section 14.3 keeps the smallest value of each node. What is "
    "different for magnitudes, and for tensors without numbers?",
    "**What to use.** `run_node` knows the node, and the value when it is computed. "
    "`value.is_floating_point()`, `value.numel()`, `value.abs().max().item()`. The order of the "
    "result is that of `self.module.graph.nodes`, whatever was seen first.",
    "**A skeleton.**\n\n"
    "```python\n"
    "def __init__(self, gm):\n"
    "    super().__init__(gm)\n"
    "    self.largest = {}                 # of this calibrator alone\n\n"
    "def run_node(self, n):\n"
    "    value = super().run_node(n)\n"
    "    if ...:                           # a floating tensor; and one node does not count\n"
    "        seen = ...                    # 0.0 if it has no numbers\n"
    "        self.largest[n.name] = max(...)\n"
    "    return value\n\n"
    "def scales(self):\n"
    "    return {...: ... for node in self.module.graph.nodes if ...}\n"
    "```",
)

X = T(2, 3)
SMALL, LARGE = Exactly(0.25, -0.5, dtype=torch.float32), Exactly(-4.0, 1.0, dtype=torch.float32)
NOTHING = Exactly(0.0, 0.0, dtype=torch.float32)
ROUNDED = Exactly(3.3, 0.5, dtype=torch.float32)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: tuple[Any, ...],
    turns: tuple[int, ...] = (),
) -> Case:
    """A case of `Calibrator`: runs on one calibrator, or alternately on several."""
    return Case(name, aspect, models.CalibratorTrial(make, inputs, turns))


VOCABULARY = Vocabulary(
    ops(
        "torch.relu({a})",
        "{x}.mul_({n})",
        "{a} * 0",
        "{x} + [nn.Parameter(torch.ones(()))]",
    )
    + ops("torch.exp({a})", "{a} > {b}", outs=0)
    + ops("{x}[:0]", dims=(1, 4), outs=0)
    + COMMON,
    dtypes=(torch.float32,),
    inputs=("", "tensor", "row", "default", "star"),
)


EXERCISE = Exercise(
    number=2,
    title="Scales by running",
    stars=2,
    minutes=18,
    points=4,
    kind="compiler_backend",
    aspects=(
        Aspect("task", 2, "the largest magnitude of each value over 127"),
        Aspect("runs", 2, "all runs, of this calibrator alone; `run` returns what it always does"),
        Aspect("which", 2, "floating tensors of every kind of node, in graph order; nothing else"),
        Aspect("computed", 1, "values as they were when computed"),
        Aspect("zeros", 1, "1.0 if only zeros, or no numbers at all, were seen"),
    ),
    cases=(
        case("one run", "task", models.Chain, (X,)),
        case("a small run, then a large one", "runs", models.Chain, (SMALL,), (LARGE,)),
        case("a large run, then a small one", "runs", models.Chain, (LARGE,), (SMALL,), (SMALL,)),
        case("two calibrators", "runs", models.Chain, (LARGE,), (SMALL,), (SMALL,), (LARGE,),
             turns=(0, 1, 1, 0)),
        case("parameters and a module called twice", "which", models.Weighted, (X,), (T(4, 3),)),
        case("values of other kinds", "which", models.OtherKinds, (X,), (T(5, 2),)),
        case("a number, then a tensor", "which", models.Default, (X,), (X, X), (X,)),
        case("wide numbers", "which", models.Wide, (X,)),
        case("names of its own", "which", models.odd_names, (X,)),
        case("few bits, rounded", "task", models.FewBits, (ROUNDED,)),
        case("changed in place later", "computed", models.ChangedLater, (X,), (X,)),
        case("an input that is changed", "computed", models.ChangesItsInput, (X,)),
        case("zeros and nothing", "zeros", models.Zeros, (X,), (X,)),
        case("zeros at first", "zeros", models.Chain, (NOTHING,), (SMALL,)),
    ),
    fine_print={
        "Inputs and attributes count, too.": ("parameters and a module called twice",),
        "Divide a Python number: a `bfloat16` has three digits.": ("few bits, rounded",),
        "What a later node writes into a value does not count.": (
            "changed in place later",
            "an input that is changed",
            "redraw: a buffer that changes",
        ),
        "Two calibrators share nothing.": ("two calibrators",),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.watched, count=16),
)  # fmt: skip
