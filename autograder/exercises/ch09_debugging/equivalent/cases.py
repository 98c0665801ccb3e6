"""Exercise 9.2: do two models do the same?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    Expect,
    RandomModels,
    T,
    Vocabulary,
    ops,
)
from autograder.exercises.ch09_debugging.equivalent import models
from autograder.exercises.ch09_debugging.models import Draws, SetsTheSeed

HINTS = (
    "A run has more than a result. What can differ after it: the arguments, the buffers, the "
    "modes, the random state? Which of these must be compared, and which must only be put back?",
    """Three small functions, tried one by one, are easier than one large one.

- **Compare**: `torch.testing.assert_close(..., equal_nan=True)` raises an `AssertionError` for
  tensors; a recursive function of your own for tuples, lists and dictionaries.
- **Run**: fresh arguments, the mode, the state as it was given, the seed, then the call.
- **Put back**: note modes (of *each* module) and buffers before the first run; `try`/`finally`.

A deep copy of a model has modes and buffers of its own.""",
    """```python
def same(a, b): ...              # tensors; containers, item by item; the rest

def run(module, training, seed):
    ...                          # the state as it was given, the mode, fresh arguments
    torch.manual_seed(seed)      # after the arguments were made
    result = module(*args)
    return ...                   # all that is compared

for seed in range(trials):
    for training in (True, False):
        if not same(run(model, ...), run(other, ...)):
            return False
return True
```""",
)


@dataclass(frozen=True)
class Look(Expect):
    """The requirements of a case, and the place to look if the answer is wrong."""

    where: str = ""


def compared(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    change: Callable[..., nn.Module],
    inputs: Callable[[int], tuple[Any, ...]],
    where: str,
    *,
    trials: int | None = None,
    training: bool = False,
    prepare: Callable[[nn.Module], Any] | None = None,
) -> Case:
    """A case: two models, a maker of inputs, and the place to look; see `models.Compared`."""
    build = models.Compared(make, change, inputs, trials, training, prepare)
    return Case(name, aspect, build, Look(where=where))


MODES = "Both modes count, of the model and all its parts: `train()`, and then `eval()`."
SEEDS = "Which seeds does your loop try, and does it stop too early?"
COMPARE = "Look at how you compare two results that are not both a single tensor."
CLOSE = "Look at how you compare two tensors: dtype, shape, NaN, and values up to rounding."
ARGS = "Each run needs arguments of its own, at any depth; compare them afterwards."
_STATE = (
    "Each run starts from the buffers that were given. A run in train mode moves them, and two "
    "models may share them. A buffer may be put back by value, or by the object itself."
)
_RANDOM = "Set the seed right before each of the two runs, after the arguments are made."

_STATE_AND_RANDOM = f"{_RANDOM} {_STATE}"
_MODES_AND_RANDOM = f"{MODES} {_RANDOM}"

X, ROWS = Draws((T(3),)), Draws((T(4, 3),))

CASES = (
    compared("a trace", "task", models.Net, fx.symbolic_trace, ROWS, _STATE_AND_RANDOM),
    compared("a difference in eval mode", "task", models.Same, models.TwiceInEval, X, MODES),
    compared("a difference in train mode", "task", models.Same, models.TwiceInTraining, X, MODES,
             trials=2),
    compared("only the first seed shows it", "seeds", models.Same, models.Abs,
             Draws((T(3),), odd=0), SEEDS),
    compared("only the last seed shows it", "seeds", models.Same, models.Abs,
             Draws((T(3),), odd=7), SEEDS),
    compared("the third, and two are tried", "seeds", models.Same, models.Abs,
             Draws((T(3),), odd=2), SEEDS, trials=2),
    compared("a tuple and a list", "values", models.Pair, models.PairAsList, X, COMPARE, trials=1),
    compared("one key more", "values", models.Named, models.NamedMore, X, COMPARE, trials=1),
    compared("another dtype", "values", models.Same, models.Single, X, CLOSE, trials=1),
    compared("another shape", "values", models.Row, models.RowKept, ROWS, CLOSE, trials=1),
    compared("rounding", "values", models.Same, models.Rounded, X, CLOSE, trials=1),
    compared("slightly off", "values", models.Same, models.SlightlyOff, X, CLOSE, trials=1),
    compared("the same numbers in another order", "values", models.Same, models.Flipped, X,
             CLOSE, trials=1),
    compared("a number of Python", "values", models.Sized, models.SizedOtherwise, X, COMPARE,
             trials=1),
    compared("zeros", "values", models.Zeros, models.PositiveZeros, X, CLOSE, trials=1),
    compared("NaN in both", "values", models.Root, fx.symbolic_trace, X, CLOSE, trials=1),
    compared("NaN in one", "values", models.Root, models.RootOrZero, X, CLOSE, trials=1),
    compared("both change the argument", "arguments", models.AddsInPlace, fx.symbolic_trace, X,
             ARGS, trials=2),
    compared("a shared total", "state", models.Total, fx.symbolic_trace, X, _STATE, trials=2),
    compared("the same dropout", "draws", models.Net, models.without_dropout, ROWS,
             _MODES_AND_RANDOM, trials=2),
    compared("the same noise", "draws", models.NoiseFirst, fx.symbolic_trace,
             SetsTheSeed((5,)), _RANDOM, trials=2, training=True),
)  # fmt: skip

VOCABULARY = Vocabulary(
    ops(
        "[nn.Dropout(0.5)]({a})",
        "{a} * {b}",
        "torch.sigmoid({a})",
        "torch.maximum({a}, {b})",
        "{a} + [buffer(torch.ones(()))]",
    )
    + ops("[nn.BatchNorm1d(D)]({x})", dims=(2, 2))
    + COMMON,
    inputs=("", "tensor", "default"),
    shapes=((2, 3), (3,)),
    dtypes=(torch.float64, torch.float32),
)

EXERCISE = Exercise(
    number=2,
    title="Do two models do the same?",
    stars=3,
    minutes=18,
    points=6,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "the same in train mode and in eval mode, for each seed"),
        Aspect("seeds", 1, "all seeds from 0 to trials − 1, and no others"),
        Aspect("values", 1, "results of every structure, dtype and shape; NaN equals NaN"),
        Aspect("arguments", 1, "effects on the arguments count"),
        Aspect("state", 1, "each run starts from the state as given, and all is put back"),
        Aspect("draws", 1, "random numbers are drawn under one seed"),
    ),
    cases=CASES,
    fine_print={
        (
            "The same result: the same structure of tuples, lists and dictionaries, the same "
            "dtypes and shapes, values equal up to the usual tolerance."
        ): (
            "a tuple and a list",
            "one key more",
            "another dtype",
            "another shape",
            "rounding",
            "slightly off",
            "redraw: a tuple and a list",
            "redraw: another key",
        ),
        "NaN equals NaN.": ("NaN in both", "redraw: an argument with a NaN"),
        "The random state is unchanged even if `make_inputs` moved it.": ("the same noise",),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.with_another, count=12),
)
