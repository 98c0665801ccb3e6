"""Exercise 12c.1: the arguments of a call by the names of its parameters."""

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
from autograder.exercises.ch12c_normalize.all_arguments import models
from autograder.exercises.ch12c_normalize.all_arguments.models import Recorded, Traced

HINTS = (
    "**Where to look.** Begin with one kind of call, such as modules, and raise a "
    "`ValueError` for all others. Then add one kind after the other. For each: which object knows "
    "the names of the parameters, and their defaults?",
    "**What to use.** `inspect.signature(...).bind(*args, **kwargs)` and `apply_defaults()`. An "
    "overload has a `_schema`; each argument of it has a `name`, `kwarg_only`, "
    "`has_default_value()` and `default_value`. Which exception do these raise, and which one "
    "does the card ask for?",
    "**A skeleton.**\n\n"
    "```python\n"
    "def all_arguments(node, root):\n"
    "    if node.op == 'call_method':\n"
    "        raise ValueError(...)\n"
    "    if node.op == 'call_module':\n"
    "        signature = ...\n"
    "    elif ...:                               # an overload: it has a schema\n"
    "        signature = ...\n"
    "    else:                                   # a function, known or not\n"
    "        signature = ...\n"
    "    bound = ...                             # a ValueError if it does not fit\n"
    "    ...\n"
    "    return ...\n"
    "```",
)

SQUARE = (T(3, 3), T(3, 3))


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    how: Any = Traced(),  # noqa: B008 - it is frozen
    inputs: tuple[T, ...] = (),
) -> Case:
    """A case: the calls in the graph of a model."""
    return Case(name, aspect, models.Calls(make, how, inputs))


VOCABULARY = Vocabulary(
    ops(
        "torch.add({a}, {b}, alpha=2)",
        "{a}.mul(other={b})",
        "F.relu({a}, inplace=False)",
        "F.dropout({a}, training=False)",
        "[nn.Hardtanh(-2.0)]({a})",
        "{a}.clamp(min=0.0)",
        "torch.pow({a}, 2)",
    )
    + ops(
        "{#x}.sum(-1, True) * {a}",
        "torch.sum({x}, dim=[-1], keepdim=True) - {y}",
        "F.softmax({x}, -1)",
        "torch.cat([{x}, {y}], dim=0).chunk(2)[0]",
        "F.normalize({x}, dim=-1) + {y}",
        "{x}.std(-1, keepdim=True) + {y}",
        dims=(1, 3),
    )
    + tuple(op for op in COMMON if "shape" not in op.text and "F.linear" not in op.text),
    shapes=((2, 3), (3,), (2, 1, 3)),
    inputs=("", "tensor", "row"),
    dtypes=(torch.float32,),
    most=6,
)

EXERCISE = Exercise(
    number=1,
    title="Every argument by its name",
    stars=2,
    minutes=20,
    points=6,
    kind="compiler_backend",
    aspects=(
        Aspect("python", 2, "modules, functions of Python, operators: their own signatures"),
        Aspect("schemas", 2, "overloads: the names and defaults of their schema"),
        Aspect("errors", 2, "a `ValueError` if nothing is known, or if the arguments do not fit"),
    ),
    cases=(
        case("functions", "python", models.Functions),
        case("functions of its own", "python", models.OwnFunctions),
        case("operators", "python", models.Operators),
        case("functions of torch and math", "python", models.OfTorchAndMath),
        case("modules", "python", models.Modules),
        case("modules, and a graph without an owner", "python", models.Modules,
             Traced(owned=False)),
        case("a function with a decorator", "python", models.Decorated),
        case("an ATen graph", "schemas", models.ForAten, Recorded(), SQUARE),
        case("attributes and methods", "errors", models.NothingKnown),
        case("builtins of several schemas", "errors", models.Builtins),
        case("arguments do not fit", "errors", models.DoNotFit, models.ByHand()),
    ),
    fine_print={
        "Functions of Python are all that `inspect.signature` can read, `operator.add` too.": (
            "functions of torch and math",
            "a function with a decorator",
        ),
        "An overload has `self` and keyword-only parameters among its own.": ("an ATen graph",),
        "The arguments do not fit: too many, one missing, an unknown keyword.": (
            "arguments do not fit",
        ),
        (
            "Nothing is known: `getattr`, a method, or a builtin such as `torch.add`, which has "
            "several schemas."
        ): ("attributes and methods", "builtins of several schemas"),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.of_random_model, count=12),
)  # fmt: skip
