"""Exercise 6.1: a negation becomes a sigmoid, and the other way round."""

from __future__ import annotations

from autograder.authoring.question import COMMON, Aspect, Exercise, RandomModels, T, Vocabulary, ops
from autograder.exercises.ch06_interpreter.cases import KINDS, X, class_case
from autograder.exercises.ch06_interpreter.NegSigmSwap import models
from autograder.models.running import on_a_trace

HINTS = (
    "Section 6.2 overrides one handler. You need two of them: functions and methods reach "
    "different handlers. What does an interpreter do with a node that your handler does not "
    "treat?",
    "`target` is the function itself in `call_function`, and the method's name in `call_method`. "
    "There, `args[0]` is the object whose method is called. "
    "`super().call_function(...)` does what an `Interpreter` always does, with any target that "
    "you hand it.",
    "```python\n"
    "def call_function(self, target, args, kwargs):\n"
    "    if target is torch.neg:\n"
    "        ...\n"
    "    elif ...:\n"
    "        ...\n"
    "    return ...  # for every target\n"
    "```",
)


VOCABULARY = Vocabulary(
    ops(
        "torch.neg({a})",
        "{a}.sigmoid()",
        "torch.sigmoid({a})",
        "{a}.neg()",
        "torch.sigmoid(input={a})",
        "[nn.Sigmoid()]({a})",
        "torch.special.expit({a})",
        "F.logsigmoid({a})",
        "{a}.clamp(min={n})",
        "torch.sub(input={a}, other={b}, alpha=3)",
        "torch.sum({x}, dim=-1, keepdim=True) + {x}",
        "{x} + {y}.sum(dim=-1, keepdim=True)",
        "[nn.Sigmoid()](input={a})",
        "{x}.mul_({b})",
    )
    + COMMON,
    inputs=KINDS,
)


EXERCISE = Exercise(
    number=1,
    title="Two operations exchanged",
    stars=1,
    minutes=5,
    points=2,
    kind="interpreter",
    aspects=(
        Aspect("task", 2, "`neg` and `sigmoid` are exchanged, as functions and as methods"),
        Aspect("others", 2, "every other operation runs as it is"),
    ),
    cases=(
        class_case("one of each", "task", models.SigmoidThenNeg, (X,), (T(4),)),
        class_case("the other two", "task", models.NegThenSigmoid, (X,), (T(),)),
        class_case("keyword arguments", "task", models.AsKeywords, (X,), (T(3, 2),)),
        class_case("among others", "others", models.AmongOthers, (X, X), (X, T(3))),
        class_case("modules and a parameter", "others", models.WithModules, (X,)),
        class_case("a function of the same name", "others", models.Namesake, (X,), (T(4),)),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY, on_a_trace),
)
