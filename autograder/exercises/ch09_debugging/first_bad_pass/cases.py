"""Exercise 9.3: which pass broke the model?"""

from __future__ import annotations

from collections.abc import Callable

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
from autograder.exercises.ch09_debugging.first_bad_pass import models
from autograder.exercises.ch09_debugging.models import Draws

HINTS = (
    "Each pass gets the result of the one before. Each result is compared with the same thing: "
    "the model as it was given, before the first pass could change it.",
    "`copy.deepcopy(model)` before the loop keeps the model as it was given. Then: apply a pass, "
    "compare, continue. Both sides of each comparison run in eval mode. A `try` around the call of "
    "the pass, and around nothing else, tells you which one raises.",
    "```python\n"
    "given = ...                        # no pass can reach it\n"
    "current = model\n"
    "for index, each in enumerate(passes):\n"
    "    try:\n"
    "        current = ...\n"
    "    except ...:\n"
    "        return index\n"
    "    if not ...:                    # compare with `given`, in eval mode\n"
    "        return index\n"
    "return None\n"
    "```",
)

ROWS = Draws((T(4, 3),))


def passed(
    name: str,
    aspect: str,
    *passes: models.Pass,
    make: Callable[[], nn.Module] = models.Net,
    training: bool = False,
    prepare: Callable[[nn.Module], None] | None = None,
) -> Case:
    """A case: passes for a model, in order; see `models.Passed`."""
    return Case(name, aspect, models.Passed(make, passes, ROWS, training, prepare))


EXERCISE = Exercise(
    number=3,
    title="Which pass broke it?",
    stars=2,
    minutes=10,
    points=4,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "the first pass after which the result differs, or `None`"),
        Aspect("chain", 1, "each pass is given the result of the one before"),
        Aspect("given", 1, "results are compared with the model as it was given"),
        Aspect("raises", 1, "a pass that raises"),
        Aspect("modes", 1, "everything is compared in eval mode"),
    ),
    cases=(
        passed("the second of three", "task", models.relu_to_clamp, models.remove_norm,
               models.tidy),
        passed("the argument afterwards", "task", models.tidy, models.change_the_argument),
        passed("another dtype", "task", models.to_single),
        passed("rounding, and more", "task", models.round_off, models.slightly_off),
        passed("NaN, and a list for a tuple", "task", models.retrace, models.tuple_to_list,
               make=models.Roots),
        passed("only after another one", "chain", models.relu_to_clamp, models.clamp_to_abs),
        passed("two that cancel", "chain", models.retrace, models.add_one, models.subtract_one),
        passed("other weights", "given", models.retrace, models.double_the_weights,
               models.retrace),
        passed("one that raises", "raises", models.relu_to_clamp, models.refuse, models.tidy),
        passed("one that trips", "raises", models.trip),
        passed("Dropout is removed", "modes", models.remove_dropout, training=True),
        passed("a result in train mode", "modes", models.switch_to_training, models.remove_norm),
    ),
    fine_print={
        "Model and results may be given in any mode. They are compared in eval mode.": (
            "Dropout is removed",
            "a result in train mode",
            "redraw: a part in train mode",
        ),
    },
    hints=HINTS,
    random=RandomModels(
        Vocabulary(
            ops("[nn.Dropout(0.5)]({a})", "[nn.LayerNorm(D)]({x})", dims=(1, 4)) + COMMON,
            inputs=("", "tensor", "default"),
            shapes=((2, 3), (3,)),
        ),
        models.with_passes,
        count=12,
    ),
)  # fmt: skip
