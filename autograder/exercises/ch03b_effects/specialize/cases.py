"""Exercise 3b.3: fix the values of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

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
    ops,
)
from autograder.exercises.ch03b_effects.specialize import models
from autograder.exercises.ch03b_effects.specialize.models import with_constants, wrong_name

X, INF = T(2, 3), math.inf
REFUSED = Expect(raises="TypeError")

HINTS = (
    "Print the graph that `fx.Tracer().trace(fn, concrete_args=constants)` gives for the function "
    "of the card. Which nodes should not be there? Which of them reads which?",
    "`inspect.signature` gives the names and the order of the parameters; for a module, ask "
    "`fn.forward`. Placeholders are in the order of the parameters, under any names. "
    "`graph.erase_node` removes a node without users. `fx.GraphModule(root, graph)` makes the "
    "module; a tracer's `.root` is a suitable root. Look at the first lines of the code: if a "
    "placeholder's name differs from its target, FX writes `name = target`. That line may "
    "overwrite a parameter.",
    """```python
names = ...                          # of all parameters
...                                  # a name that is not a parameter
tracer = fx.Tracer()
graph = tracer.trace(...)
placeholders = ...
for name, node in zip(names, placeholders):
    if name in constants:
        ...                          # erase the node, its readers first
return fx.GraphModule(tracer.root, graph)
```""",
)


def fixed(
    name: str,
    aspect: str,
    function: Callable[..., Any],
    constants: dict[str, Any],
    *inputs: Sequence[Any],
    training: bool = False,
    expect: Expect = Expect(),  # noqa: B008 - it is frozen
) -> Case:
    """A case: a function or module, the values to fix, inputs for the result."""
    return Case(name, aspect, models.Fixing(function, constants, inputs, training), expect)


def refused(recipe: Recipe) -> Expect:
    """The expected outcome of a random case, which may fix a name that is not a parameter."""
    return REFUSED if wrong_name(recipe.choice) else Expect()


SIGNATURES = (
    "flag, k=2.0, mode=None, flag_1=3.0",
    "flag_1, flag, mode='sin', k=2.0",
    "mode, flag_1, flag=True, k=0.5, mode_1=0.5",
    "flag, k=-1.0, flag_2=2.0, flag_1=1.5, mode='tanh', input=0.5",
)

VOCABULARY = Vocabulary(
    ops(
        "torch.relu({a}) if flag else {a}",
        "{a} * k",
        "{a} if mode is None else {a} * len(mode)",
        "{a}.tanh() if mode == 'tanh' else torch.sin({a})",
        "{a} + flag_1",
        '{a} * 2 if mode == "it\'s" else {a}',
        "{a} * 2 ** flag",
        "sum((torch.sin({#b}) for _ in range(flag)), {a})",
        "{a} - flag_1 * 2",
        "{a} * (2 if flag is True else 3)",
        "{a} * (2 if isinstance(k, int) else 3)",
        "{a} + (1 if isinstance(flag_1, int) else 2)",
        "{a}.clamp(max=k)",
        "{a} + 1 if flag is False and mode is None else {a} - 1",
        "{a} * (k + 1)",
    )
    + ops(
        'torch._assert({a}.dim() == {b}.dim(), "as many dimensions")',
        'torch._assert({a}.dim() < 5, "at most four dimensions")',
        "{x}.mul_({n})",
        outs=0,
    )
    + COMMON,
    dtypes=(torch.float64,),
    inputs=SIGNATURES,
    training=True,
    traced=False,
    parts=False,
    namesakes=("flag", "mode"),
)

EXERCISE = Exercise(
    number=3,
    title="Fix parameters for good",
    stars=3,
    minutes=25,
    points=6,
    kind="transform",
    aspects=(
        Aspect("task", 1, "a fixed parameter decides its branches and is gone from `forward`"),
        Aspect("values", 1, "bool, int, float, None and str, exactly as they were given"),
        Aspect("signature", 1, "the other parameters keep names, order and defaults"),
        Aspect("names", 1, "names that resemble each other are kept apart"),
        Aspect("assertions", 1, "the function's own assertions stay"),
        Aspect("errors", 1, "a name that is not a parameter is a TypeError"),
    ),
    cases=(
        fixed("a flag, true", "task", models.relu_or_neg, {"flag": True}, (X,), (T(4),)),
        fixed("None", "task", models.weighted, {"weights": None}, (X,), (X, 0.5)),
        fixed("a module", "task", models.Block, {"act": False}, (X,), (X, 3.0)),
        fixed("a value changed in place", "task", models.doubled, {"flag": True}, (X,), (T(4),)),
        fixed(
            "a branch on the mode",
            "task",
            models.NegInTraining,
            {"flag": True},
            (X,),
            training=True,
        ),
        fixed("no round at all", "values", models.repeat, {"n": 0}, (X,)),
        fixed("an infinite limit", "values", models.capped, {"limit": INF}, (X,), (X, 0.0)),
        *(
            fixed(f"{value!r} comes back", "values", models.with_value, {"value": value}, (X,))
            for value in (True, "It's", 0.1)
        ),
        fixed("parameters nobody reads", "signature", models.unread, {"flag": False}, (X, 1.0)),
        fixed(
            "a default that agrees",
            "signature",
            models.Block,
            {"act": True, "scale": 1.0},
            (X,),
            training=True,
        ),
        fixed("another flag stays", "signature", models.kept, {"flag": False}, (X,), (X, True)),
        fixed("an infinite default", "signature", models.bounded, {"flag": True}, (X,), (X, 0.5)),
        fixed("flag next to flag_1", "names", models.flags, {"flag": True}, (X, 2.0)),
        fixed("the first of a row", "names", models.row, {"flag": True}, (X, 1.0, 2.0)),
        fixed("an assertion of its own", "assertions", models.matrix_only, {"flag": True}, (X,)),
        fixed("an assertion that names a flag", "assertions", models.told, {"flag": True}, (X,)),
        fixed("a wrong name", "errors", models.weighted, {"weight": None}, expect=REFUSED),
        fixed("a local variable", "errors", models.with_local, {"hidden": None}, expect=REFUSED),
        fixed(
            "`self`, of a module",
            "errors",
            models.ReluIfFlag,
            {"flag": True, "self": 1},
            expect=REFUSED,
        ),
        fixed(
            "a tensor from around the function",
            "signature",
            models.weighted_within,
            {"flag": True},
            (X,),
            (X, 0.5),
        ),
        fixed(
            "by keyword alone",
            "task",
            models.by_keyword,
            {"shift": 1.0, "flag": True},
            (X,),
            (X, 3.0),
        ),
    ),
    fine_print={
        (
            "Parameters that are not used remain, and so do assertions that the function "
            "makes itself."
        ): (
            "parameters nobody reads",
            "an assertion of its own",
            "an assertion that names a flag",
        ),
        "A function may also have `flag`, `flag_1` and `flag_2`.": (
            "flag next to flag_1",
            "the first of a row",
            "redraw: flag_1",
        ),
        (
            "A function may read a tensor from around it, and have parameters that are "
            "given by keyword alone."
        ): (
            "a tensor from around the function",
            "by keyword alone",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, with_constants, expect=refused),
)
