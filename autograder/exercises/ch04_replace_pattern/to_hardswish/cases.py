"""Exercise 4.2: four operations become one."""

from __future__ import annotations

from autograder.authoring.question import (
    ONE_DTYPE,
    SMOOTH,
    Aspect,
    Exercise,
    RandomModels,
    T,
    TracedInPart,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch04_replace_pattern.to_hardswish import models

X, XY = (T(2, 3),), (T(2, 3), T(2, 3))


HINTS = (
    "Section 4.3 rewrites one operation in several forms: one pattern for each form. "
    "How many forms are there here? Two orders, and two numbers that are an int or a float each.",
    "A function inside a function may read the variables around it: "
    "`def pattern(x): return x + three` records the number that `three` is while it is "
    "traced. So you can make patterns in a loop.",
    "`F.hardswish` has a second parameter, `inplace`. As a replacement you need a function with "
    "one parameter that calls it.",
    "```python\n"
    "def patterns(three, six):\n"
    "    def gate_last(x):\n"
    "        ...\n\n"
    "    def gate_first(x):\n"
    "        ...\n\n"
    "    return gate_last, gate_first\n\n"
    "gm = fx.symbolic_trace(model)\n"
    "for three in ...:\n"
    "    for six in ...:\n"
    "        for pattern in patterns(three, six):\n"
    "            ...\n"
    "return gm\n"
    "```",
)

VOCABULARY = Vocabulary(
    ops(
        "{a} * F.relu6({a} + 3) / 6",
        "F.relu6({a} + 3) * {a} / 6",
        "{a} * F.relu6({a} + 3.0) / 6.0",
        "F.relu6({a} + 3.0) * {a} / 6",
        "F.relu6({a} + 3) * {a} / 6.0",
        "{a} * F.relu6({a} + 3) / 6.0",
        "{a} * F.relu6({a} + 3.0) / 6",
        "{x} * F.relu6({y} + 3) / 6",
        "F.relu6({x} + 3) * {y} / 6",
        "{a} * F.relu6({a} + {n}) / 6",
        "{a} * F.relu6({a} + 3) / 5",
        "{a} * F.relu6({a} + 3.1) / 6",
        "F.relu6({a} + 3) * {a} / 6.1",
        "{a} * F.relu6({a} + 3)",
        "F.relu6({a} + 3) / 6",
        "(gate := F.relu6({a} + 3)) * {a} / 6 + gate",
        "{a} * F.relu6(total := {a} + 3) / 6 * total",
        "(product := {a} * F.relu6({a} + 3.0)) / 6 - product",
        "(product := F.relu6({a} + 3) * {a}) / 6 + product / 6",
        "{a} + F.relu6({a} + 3) / 6",
        "{a} * F.relu({a} + 3) / 6",
        "F.hardswish({a})",
        "F.hardsigmoid({a})",
    )
    + SMOOTH,
    dtypes=ONE_DTYPE,
    dead=False,
    training=True,
)


EXERCISE = Exercise(
    number=2,
    title="One operation for four",
    stars=2,
    minutes=10,
    points=4,
    kind="transform",
    aspects=(
        Aspect("task", 2, "`x * F.relu6(x + 3) / 6` becomes `F.hardswish(x)`"),
        Aspect("forms", 2, "the factors in either order, the numbers int or float"),
        Aspect("many", 1, "wherever it is, and several times"),
        Aspect("stays", 3, "what is not that computation stays as it is"),
    ),
    cases=(
        model_case("one hard swish", "task", models.Swish, X, (T(5),)),
        model_case("factors the other way round", "forms", models.SwishTurned, X, (T(4),)),
        model_case("an int and a float", "forms", models.SwishMixed, X),
        model_case("in submodules", "many", models.SwishOfLayer, X),
        model_case("a graph module", "many", TracedInPart(models.SwishOfLayer), X),
        model_case("a ReLU6 times its gate", "many", models.SwishOfGate, X),
        model_case("other numbers", "stays", models.WrongNumbers, X),
        model_case("numbers that are near", "stays", models.NearNumbers, X),
        model_case("two different values", "stays", models.TwoDifferent, XY),
        model_case("the sum is read elsewhere", "stays", models.SumReadElsewhere, X),
        model_case("the gate is read by keyword", "stays", models.GateReadByKeyword, X),
        model_case("other operations", "stays", models.OtherOperations, X),
        model_case(
            "a function called relu6",
            "stays",
            models.OwnRelu6,
            X,
            functions={"relu6": models.relu6},
        ),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY, count=10),
)
