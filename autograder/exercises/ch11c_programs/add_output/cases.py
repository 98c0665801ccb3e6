"""Exercise 11c.1: add an output to an exported program."""

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
    Expect,
    RandomModels,
    Recipe,
    T,
    Vocabulary,
)
from autograder.exercises.ch11c_programs.add_output import models
from autograder.exercises.ch11c_programs.models import Parts
from autograder.exercises.ch11c_programs.models import Recipe as Export

X, ROW = T(2, 3), T(3)

HINTS = (
    "**Where to look.** Print `ep` before and after your edit, from top to bottom. Which parts of "
    "it speak of the outputs? The graph is only one of them; section 11c.1 lists them.",
    "**What to use.** `copy.deepcopy(ep)` gives a program that you may edit. A line of the "
    "signature is an `OutputSpec`, with `OutputKind.USER_OUTPUT` and a `TensorArgument`. The "
    "structure is in `module_call_graph[0].signature.out_spec`; `pytree.tree_structure` makes one "
    "of an example, and an old structure can be a part of a new one.",
    "**A skeleton.**\n\n"
    "```python\n"
    "new = ...                            # a program of your own\n"
    "node = ...                           # the call node of that name, or ValueError\n"
    "output = new.graph.output_node()\n"
    "output.args = ...                    # one value more\n"
    "new.graph_signature.output_specs.append(...)\n"
    "signature = new.module_call_graph[0].signature\n"
    "signature.out_spec = ...             # (old structure, one value)\n"
    "...                                  # the code\n"
    "return new\n"
    "```",
)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    args: tuple[Any, ...],
    node: str,
    *more: tuple[Any, ...],
    saved: bool = False,
    expect: Expect = Expect(),  # noqa: B008 - it is frozen
    **how: Any,
) -> Case:
    """A case with the program of one model, and the name of a node."""
    build = models.Extended(Export(make, args, **how), node, more, saved)
    return Case(name, aspect, build, expect)


REFUSED = Expect(
    "ValueError",
    "Which nodes are calls? What does your search give where there is none of that name?",
    still_holds=("caller untouched",),
)


def refused(
    name: str,
    make: Callable[[], nn.Module],
    args: tuple[Any, ...],
    node: str,
) -> Case:
    """A case whose name is not the name of a call node."""
    return case(name, "refused", make, args, node, expect=REFUSED)


def of_recipe(recipe: Recipe) -> Expect:
    """The expectation for a random model: without operations there is no call node."""
    return Expect() if recipe.steps or recipe.part else REFUSED


RANDOM_MODELS = RandomModels(
    Vocabulary(
        COMMON, shapes=((2, 3), (3,), (2, 1, 3)), inputs=("", "tensor"), traced=False,
        dtypes=(torch.float32,), most=5,
    ),
    models.of_random_model,
    count=6,
    expect=of_recipe,
)  # fmt: skip

EXERCISE = Exercise(
    number=1,
    title="One more output of a program",
    stars=3,
    minutes=20,
    points=6,
    kind="compiler_backend",
    aspects=(
        Aspect("task", 2, "the value is one more user output, the last"),
        Aspect("structure", 2, "the old result comes first, in its old structure"),
        Aspect("mutated", 1, "programs in which buffers or inputs change"),
        Aspect("more", 1, "sizes that change, graphs in graphs, saving and loading"),
        Aspect("refused", 1, "a name that is not that of a call node is refused"),
    ),
    cases=(
        case("a value in the middle", "task", models.Small, (X,), "relu"),
        case("a value that nobody reads", "task", models.Unread, (X,), "tanh"),
        case("constants", "task", models.Constants, (X,), "mul"),
        case("two results", "structure", models.TwoResults, (X,), "sin"),
        case("a dictionary", "structure", models.Nested, (Parts(ROW), X), "sigmoid"),
        case("training, as exported", "mutated", models.Counting, (X,), "tanh", training=True),
        case("training, then run_decompositions", "mutated", models.Counting, (X,), "tanh",
             training=True, decomposed=True, saved=True),
        case("batches", "more", models.Batches, (X,), "linear", (T(5, 3),), batches=True,
             saved=True),
        refused("no such name", models.Small, (X,), "gelu"),
        refused("an input", models.Names, (X, X), "relu"),
        refused("a branch", models.Condition, (X,), "true_graph_0"),
        refused("the output node", models.Small, (X,), "output"),
    ),
    fine_print={
        (
            "`torch.export.save` and `load` work on the new program, and sizes that could change "
            "still can."
        ): (
            "batches",
        ),
        "A value that is an output already is given a second time.": (
            "redraw: the new value of an input",
        ),
        "Programs before and after `run_decompositions` are tried.": (
            "training, as exported",
            "training, then run_decompositions",
        ),
    },
    hints=HINTS,
    random=RANDOM_MODELS,
)  # fmt: skip
