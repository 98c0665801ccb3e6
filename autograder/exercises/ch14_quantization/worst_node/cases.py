"""Exercise 14.4: find the node with the largest quantization error."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from autograder.authoring.question import Aspect, Case, Exercise
from autograder.exercises.ch14_quantization.worst_node import models
from autograder.models.running import Exactly

HINTS = (
    "**Where to look.** Two runs, one Interpreter class that notes values. Your `Calibrator` sees "
    "everything that you need. What must you keep here instead of one number?",
    "**What to use.** `value.detach().clone()` when it is computed, `copy.deepcopy(inputs)` for "
    "each run, `torch.linalg.vector_norm(a - b)`. Only names that are in both tables count.",
    "**A skeleton.**\n\n"
    "```python\n"
    "def values(gm):\n"
    "    found = {}\n"
    "    ...                          # an Interpreter with its own run_node, on copies\n"
    "    return found                 # call nodes with floating tensors, by name\n\n"
    "a, b = values(float_gm), values(quant_gm)\n"
    "errors = {...: ... for name in a if ...}\n"
    "return max(errors, key=...)      # max takes the first of equal ones\n"
    "```",
)

NUMBERS = Exactly((0.31, -1.27, 2.2), (0.77, -0.4, 1.55), dtype=torch.float32)
THIRDS = Exactly(0.3, 0.31, -0.29, dtype=torch.float32)


def case(
    name: str, aspect: str, make: Callable[[bool], nn.Module], *inputs: object,
) -> Case:  # fmt: skip
    """A case of ``worst_node(float_gm, quant_gm, *inputs)``."""
    return Case(name, aspect, models.PairTrial(make, inputs or (NUMBERS,)))


EXERCISE = Exercise(
    number=4,
    title="Where eight bits hurt",
    stars=2,
    minutes=12,
    points=3,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "the name with the largest relative error"),
        Aspect("measure", 1, "2-norms of whole tensors, relative to the float value"),
        Aspect("which", 1, "call nodes that both graphs have, with floating tensors, not zeros"),
        Aspect("computed", 1, "values as they were when computed, on equal inputs"),
    ),
    cases=(
        case("one after the other", "task", models.Straight),
        case("equal errors", "task", models.Equal),
        case("one number that is off", "measure", models.OneNumberOff),
        case("too little and too much", "measure", models.Clipped, THIRDS),
        case("zeros in the float graph", "which", models.OnlyZeros),
        case("a value of eight bits", "which", models.InEightBits),
        case("a layer is the worst", "which", models.WorstLayer),
        case("nobody reads the worst", "which", models.UnreadWorst),
        case("what is returned is off", "which", models.LastIsOff),
        case("zeros in the quantized graph", "which", models.ZerosInEightBits),
        case("very small numbers", "which", models.VerySmall),
        case("changed in place later", "computed", models.ChangedLater),
        case("an input that is changed", "computed", models.ChangesItsInput),
    ),
    fine_print={
        "If several errors are equal, return the first node.": ("equal errors",),
        "A value that is zero everywhere in the float graph does not count.": (
            "zeros in the float graph",
        ),
    },
    hints=HINTS,
    not_random="which of two close errors is larger depends on how norms are rounded",
)
