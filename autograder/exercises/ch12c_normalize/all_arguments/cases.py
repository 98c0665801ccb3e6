"""Exercise 12c.1: what a call is given, by the names of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.core.exercise import Aspect, Case, Exercise
from autograder.exercises.ch12c_normalize.all_arguments import models
from autograder.exercises.ch12c_normalize.all_arguments.models import Recorded, Traced
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.models import T

HINTS = (
    "**Where to look.** Begin with one kind of call, such as modules, and raise a "
    "`ValueError` for all others. Then add one kind after the other. For each: who knows the names "
    "of the parameters, and who fills in what was left out?",
    "**What to use.** `inspect.signature(...).bind(*args, **kwargs)` and `apply_defaults()`; "
    "`torch._C._jit_get_schemas_for_operator('aten::sum')` for the schemas of a name, "
    "`target._schema` for that of an overload. An argument of a schema has a `name`, a "
    "`real_type`, `N` for a list of fixed length, `kwarg_only`, `has_default_value()` and "
    "`default_value`. A signature can be made of them, and binds as any other.",
    "**A skeleton.**\n\n"
    "```python\n"
    "def bound(schema, first, args, kwargs):     # the dictionary, or None if it does not fit\n"
    "    ...\n"
    "\n"
    "def accepts(argument, value):               # whether a parameter takes this value\n"
    "    ...\n"
    "\n"
    "def all_arguments(node, root):\n"
    "    if node.op == 'call_module':\n"
    "        ...\n"
    "    elif ...:                               # an overload: it has a schema\n"
    "        ...\n"
    "    elif ...:                               # a method, or a function that is built in\n"
    "        found = ...                         # from all schemas that accept the arguments\n"
    "        if ...:                             # none, or they are not all the same\n"
    "            raise ValueError(...)\n"
    "    else:                                   # a function of Python\n"
    "        ...\n"
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
    *,
    hidden: bool = False,
) -> Case:
    """A case: the calls in the graph of a model."""
    return Case(name, aspect, models.Calls(make, how, inputs), hidden)


VOCABULARY = Vocabulary(
    ops(
        "torch.add({a}, {b}, alpha=2)",
        "torch.add({a}, 2)",
        "{a}.mul(other={b})",
        "F.relu({a}, inplace=False)",
        "F.dropout({a}, training=False)",
        "[nn.Hardtanh(-2.0)]({a})",
        "{a}.clamp(min=0.0)",
        "torch.clamp({a}, max={b})",
        "torch.pow({a}, 2)",
        "{a}.add({b}, alpha=3)",
    )
    + ops(
        "{#x}.sum(-1, True) * {a}",
        "torch.sum({x}, dim=[-1], keepdim=True) - {y}",
        "{x}.softmax(-1)",
        "torch.cat([{x}, {y}], dim=0).chunk(2)[0]",
        "{#x}.max() + {a}",
        "torch.max({#x}, -1, True)[1] * {a}",
        "{x}.std(-1, keepdim=True) + {y}",
        dims=(1, 3),
    )
    + ops(
        "{#x}.reshape({#x}.size(0), -1).sum() + {a}",
        "{x}.transpose(0, -1).sum() * {y}",
        "{x}.flatten().view(1, -1).expand(2, -1).sum() + {y}",
        dims=(2, 3),
    )
    + tuple(op for op in COMMON if "shape" not in op.text and "F.linear" not in op.text),
    shapes=((2, 3), (3,), (2, 1, 3)),
    inputs=("", "tensor", "row"),
    dtypes=(torch.float32,),
    most=6,
)

EXERCISE = Exercise(
    name="all_arguments",
    number=1,
    chapter="12c_normalize",
    title="Every argument by its name",
    stars=3,
    minutes=35,
    points=8,
    procedure="driven",
    aspects=(
        Aspect("python", 2, "modules, functions of Python, operators: their own signatures"),
        Aspect("schemas", 2, "overloads, builtins and methods: the schemas of ATen"),
        Aspect("choice", 2, "of several schemas, those that accept the arguments"),
        Aspect("sizes", 1, "sizes one by one are gathered in a list"),
        Aspect("errors", 2, "a `ValueError` where nothing can be said"),
    ),
    cases=(
        case("functions", "python", models.Functions),
        case("functions of its own", "python", models.OwnFunctions),
        case("operators", "python", models.Operators),
        case("Python comes before ATen", "python", models.PythonBeforeAten),
        case("modules", "python", models.Modules),
        case("modules, and a graph without an owner", "python", models.Modules,
             Traced(owned=False)),
        case("a module of torch", "python", models.Attention),
        case("a function with a decorator", "python", models.Decorated),
        case("an ATen graph", "schemas", models.ForAten, Recorded(), SQUARE),
        case("another ATen graph", "schemas", models.MoreAten, Recorded(), SQUARE),
        case("builtins", "schemas", models.Builtins),
        case("methods", "schemas", models.Methods),
        case("overloads", "choice", models.Overloads),
        case("where the result is put", "choice", models.OutOf),
        case("what values are", "choice", models.WhatValuesAre),
        case("sizes", "sizes", models.Sizes),
        case("one size", "sizes", models.OneSize),
        case("sizes in a list", "sizes", models.SizesInAList),
        case("sizes that are nodes", "sizes", models.SizesOfNodes),
        case("no sizes", "sizes", models.NotSizes),
        case("a list without sizes", "sizes", models.NoSizes),
        case("nothing is known", "errors", models.NothingKnown),
        case("schemas disagree", "errors", models.Disagree),
        case("arguments do not fit", "errors", models.DoNotFit),
        case("no trace would record it", "errors", models.NotTraced, models.ByHand()),
        case("redraw: modules", "python", models.Modules, Traced(owned=False), hidden=True),
        case("redraw: an ATen graph", "schemas", models.MoreAten, Recorded(), (T(2, 2), T(2, 2)),
             hidden=True),
        case("redraw: overloads", "choice", models.Overloads, Traced(owned=False), hidden=True),
        case("redraw: sizes", "sizes", models.SizesOfNodes, Traced(owned=False), hidden=True),
        case("redraw: a memory format", "schemas", models.Formats, hidden=True),
        case("redraw: whole numbers", "errors", models.WholeOrNot, hidden=True),
        case("redraw: disagree", "errors", models.Disagree, Traced(owned=False), hidden=True),
    ),
    rubric=f"{__package__}.rubric",
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.of_random_model, count=12),
)  # fmt: skip
