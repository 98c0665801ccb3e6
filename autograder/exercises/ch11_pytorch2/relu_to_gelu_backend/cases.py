"""Exercise 11.2: a backend that replaces every ReLU by GELU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from autograder.authoring.question import Aspect, Case, Exercise, T
from autograder.exercises.ch11_pytorch2.models import (
    ByHand,
    Compiled,
    CompiledForTraining,
    Driven,
)
from autograder.exercises.ch11_pytorch2.relu_to_gelu_backend import models

X = T(2, 3)

HINTS = (
    "Write a backend that only prints the graph, and compile a model of your own with it: with "
    "`nn.ReLU`, `F.relu_`, and a `torch.cond`. Which targets do you see? Where are the branches?",
    "`gm.modules()` gives the graph module itself and the branches. A set of functions and a set "
    "of names say what a ReLU is; `node.all_input_nodes[0]` is what it reads, however the argument "
    "is passed. After an edit, a graph module needs new code.",
    "```python\n"
    "for module in gm.modules():\n"
    "    for node in ...:                # a list of the nodes\n"
    "        if ...:                     # a function, or a method\n"
    "            with module.graph.inserting_before(node):\n"
    "                new = module.graph.call_function(...)\n"
    "            ...                     # rewire, erase\n"
    "    ...                             # new code for this module\n"
    "return ...\n"
    "```",
)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: tuple[Any, ...],
    drive: Callable[..., Any] = Compiled,
) -> Case:
    """A case that compiles a model with the answer as the backend."""
    return Case(name, aspect, Driven(drive, make, inputs))


EXERCISE = Exercise(
    number=2,
    title="A backend in which every ReLU is a GELU",
    stars=3,
    minutes=20,
    points=5,
    kind="compiler_backend",
    aspects=(
        Aspect("task", 2, "functions and layers, compiled or called by hand"),
        Aspect("spellings", 2, "methods, keywords and calls in place"),
        Aspect("branches", 1, "the branches of `torch.cond`"),
        Aspect("rest", 1, "everything else stays unchanged"),
        Aspect("compiled", 1, "several graphs, shapes, dtypes and models; gradients"),
    ),
    cases=(
        case("a function", "task", models.OneRelu, (X,)),
        case("a function, by hand", "task", models.OneRelu, (X,), drive=ByHand),
        case("in place", "spellings", models.InPlace, (X,)),
        case("keywords, by hand", "spellings", models.Keywords, (X,), drive=ByHand),
        case("in place, by hand", "spellings", models.InPlace, (X,), drive=ByHand),
        case("a method, by hand", "spellings", models.Method, (X,), (T(4, 2),), drive=ByHand),
        case("conditions", "branches", models.Conditions, (X,), (T(4, 3),)),
        case("a condition in a branch", "branches", models.NestedConditions, (X,)),
        case("relatives", "rest", models.Relatives, (X,)),
        case("an input that nobody reads, by hand", "rest", models.UnreadInput, (X, X),
             drive=ByHand),
        case("a graph break", "compiled", models.Break, (X,)),
        case("gradients", "compiled", models.Functions, (X,), drive=CompiledForTraining),
    ),
    fine_print={
        (
            "You may change `gm`, and return any callable that takes the arguments of `gm` and "
            "returns what `gm` returns."
        ): (
            "an input that nobody reads, by hand",
        ),
        "A ReLU in place only comes where nothing else reads its input.": (
            "redraw: gradients in place",
        ),
    },
    hints=HINTS,
    not_random="twenty models would have to be compiled, which takes much longer than all cases",
)  # fmt: skip
