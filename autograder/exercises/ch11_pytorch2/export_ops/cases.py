"""Exercise 11.3: the operators of an exported program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from autograder.authoring.question import Aspect, Case, Exercise, T
from autograder.exercises.ch11_pytorch2.export_ops import models

X = T(2, 3)

HINTS = (
    "Export a model with a `torch.cond` and print the program. Its branches are printed, too: as "
    "what kind of object are they held, and who holds them?",
    "`ep.graph_module.modules()` gives the module itself and everything in it. The target of an "
    "operator overload is a `torch._ops.OpOverload`, and an overload has a `namespace`.",
    "```python\n"
    "program = torch.export.export(...)\n"
    "counts = Counter()\n"
    "for module in ...:              # each graph module, once\n"
    "    for node in module.graph.nodes:\n"
    "        if ...:                 # an operator of PyTorch itself\n"
    "            counts[...] += 1\n"
    "return counts\n"
    "```",
)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *args: T,
    training: bool = False,
    prepare: Callable[[nn.Module], Any] | None = None,
    build: type[models.Exported] = models.Exported,
) -> Case:
    """A case with one model and its arguments."""
    made = build(make, (args,), training=training, prepare=prepare)
    return Case(name, aspect, made)


EXERCISE = Exercise(
    number=3,
    title="The operators of an exported program",
    stars=2,
    minutes=10,
    points=4,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "each ATen operator is counted, by its overload"),
        Aspect("branches", 2, "the graphs within the program count, too, each once"),
        Aspect("others", 1, "only ATen operators count; dead code does, too"),
        Aspect("mode", 1, "the model is exported in its mode, and is left as it was"),
    ),
    cases=(
        case("layers and functions", "task", models.Block, X),
        case("a graph break", "task", models.Break, X),
        case("a condition", "branches", models.OneCond, X),
        case("a condition in a branch", "branches", models.NestedCond, X),
        case("a part without gradients", "branches", models.WithoutGradients, X),
        case("operators of other libraries", "others", models.Vendors, X),
        case("values that nobody reads", "others", models.DeadCode, X),
        case("eval mode", "mode", models.Norms, X),
        case("training mode", "mode", models.Norms, X, training=True),
        case(
            "a frozen part", "mode", models.Norms, X, training=True, prepare=models.frozen_norm
        ),
        case(
            "arguments that ask for gradients", "mode", models.Overloads, X, X,
            build=models.ExportedWithGradients,
        ),
    ),
    fine_print={
        "What nobody reads counts.": ("values that nobody reads",),
        "The model is exported in the mode that it is in.": (
            "eval mode",
            "training mode",
            "a frozen part",
        ),
    },
    hints=HINTS,
    not_random="twenty models would have to be exported, which takes longer than all cases; "
    "export itself, and not the answer, copes with what they are made of",
)  # fmt: skip
