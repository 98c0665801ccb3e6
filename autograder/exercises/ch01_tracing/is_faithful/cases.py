"""Exercise 1.2: does the trace do what the model does?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from autograder.authoring.question import Aspect, Case, Exercise, Expect, T
from autograder.exercises.ch01_tracing.is_faithful import models

X = (T(4, 3),)
ONES, MIXED = torch.ones(2, 3, dtype=torch.float64), torch.tensor([[1.0, -2.0], [-3.0, 4.0]])

HINTS = (
    "The sentence on the card says what differs, or that nothing does. Run the model of the card "
    "and its trace by hand, one after the other, and look at all that a run can touch: what is "
    "returned, the arguments afterwards, the random numbers, the buffers.",
    """Three small functions, tried one by one, are easier than one large one.

- **Compare**: `torch.testing.assert_close(..., equal_nan=True)` for tensors; a recursive function
  of your own for tuples, lists and dictionaries; type and value for everything else.
- **Run**: `copy.deepcopy` of the arguments and of the module, so that each run has its own buffers
  and changes nothing of the caller's. `torch.manual_seed` before each of the two runs.
- **Trace**: a copy of the model, too. Tracing may change its buffers, so copy the model's values
  into those of the trace: `trace.named_buffers()`, `buffer.copy_(...)`.
- **Random numbers**: `with torch.random.fork_rng():` around all of it. Its end puts the random
  state back, on every way out.""",
    """```python
def same(a, b): ...            # tensors; containers, item by item; the rest

with torch.random.fork_rng():
    try:
        trace = ...            # of a copy of the model
    except ...:
        return False
    ...                        # the model's buffers into those of the trace
    for args in inputs:
        ours, theirs = ...     # two copies of the tuple
        ...                    # the seed
        expected = ...         # a copy of the model runs: its errors pass through
        ...                    # the seed again
        try:
            obtained = ...     # a copy of the trace runs
        except ...:
            return False
        ...                    # compare the results, then ours and theirs
```""",
)


@dataclass(frozen=True)
class Judgement(Expect):
    """The expectation of a case, with the reason for the right judgement.

    Attributes:
        because: why trace and model differ or agree, as a clause.
    """

    because: str = ""


def faithful(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    inputs: Sequence[Sequence[Any]],
    because: str = "",
    advice: str = "",
    *,
    training: bool = False,
    prepare: Callable[[nn.Module], Any] | None = None,
    tie: Callable[[list[tuple[Any, ...]]], list[tuple[Any, ...]]] | None = None,
    raises: str = "",
) -> Case:
    """A case: a model, and the argument tuples for which the answer judges its trace.

    Args:
        name: the case's name.
        aspect: the aspect it belongs to.
        make: builds the model.
        inputs: the argument tuples, tensors as `T`.
        because: why trace and model differ or agree, as a clause.
        advice: the advice on the card.
        training: the model's mode.
        prepare: changes the model after it is built.
        tie: derives argument tuples in which one object occurs more than once.
        raises: the exception that the answer must not catch.
    """
    expect = Judgement(advice=advice, because=because)
    if raises:
        expect = Judgement(raises=raises, advice=ERROR_ADVICE, still_holds=("left as given",))
    build = models.Judged(make, inputs, training, prepare, tie)
    return Case(name, aspect, build, expect)


# ------------------------------------------------------------------ advice

_EACH = "Every argument tuple counts. A difference in one of them is a difference."
COMPARE = "Look at how you compare two results that are not both a single tensor."
CLOSE = "Look at how you compare two tensors: dtype, shape, NaN, and values up to rounding."
SEED = "Look at when you set the seed: before each of the two runs, and not before tracing."
ARGS = "Each run needs a copy of its own, at any depth; compare the copies afterwards."
BUFFER_ADVICE = "Model and trace share the buffers. From which values does each run start?"
_START = "From which buffers does the second argument tuple start, in the model and in the trace?"
ERROR_ADVICE = "Three things can raise: tracing, the model, the trace. Each means something else."
TRACING = (
    "`forward` runs once while it is traced, and may change a buffer then, or put another tensor "
    "there. Trace a copy, or note the buffers before, by value and by object."
)
_MODE = "Run model and trace in the mode in which the model is given, each part in its own."
ONE_COPY = "Copy a tuple as a whole: what is one tensor in it is one tensor in the copy."
_RETURNED = "A result may be the buffer itself. What is in it when you compare the two?"
_MADE = "A graph module may have been built by hand. Trace it like any other model."
_CALL = "Hooks run when a module is called, `model(...)`; not when its `forward` is."

TASK = (
    faithful("layers and a default", "task", models.Affine, [(T(4, 3),), (T(2, 3), 0.5)],
             "it has no branch at all", COMPARE),
    faithful("a difference in the first tuple", "task", models.AbsIfTensor, [(MIXED,), (ONES,)],
             "they differ for the first argument tuple", _EACH),
    faithful("nothing to try", "task", models.Affine, [],
             "there is no argument tuple that shows a difference", _EACH),
    faithful("a hook on the model", "task", models.Inner, [X],
             "the model has a forward hook, and the trace does not", _CALL,
             prepare=models.root_hook),
)  # fmt: skip

VALUES = (
    faithful("one, not true", "values", models.OneOrTrue, [X],
             "the model returns `1` and the trace `True`", COMPARE),
    faithful("a tuple, not a list", "values", models.TupleOrList, [X],
             "the model returns a tuple and the trace a list", COMPARE),
    faithful("one key more", "values", models.OneKeyMore, [X],
             "the trace returns one key more", COMPARE),
    faithful("a number, not a tensor", "values", models.NumberOrTensor, [(T(2),)],
             "the model returns a float and the trace a tensor without dimensions", COMPARE),
    faithful("another dtype", "values", models.DoubleIfTensor, [(T(2, dtype=torch.float32),)],
             "the model returns float64 and the trace float32", CLOSE),
    faithful("another shape", "values", models.RowIfTensor, [X],
             "the model returns the shape (1, 3) and the trace (3,)", CLOSE),
    faithful("almost the same", "values", models.AlmostTheSame, [X],
             "the values differ by rounding only", CLOSE),
    faithful("slightly off", "values", models.SlightlyOff, [X],
             "the values differ by a tenth of a percent", CLOSE),
    faithful("a tensor of NaN", "values", models.RootOfNegative, [X],
             "both return NaN, and NaN equals NaN here", CLOSE),
    faithful("NaN on one side", "values", models.NanOrZero, [X],
             "the model returns NaN and the trace zeros", CLOSE),
    faithful("NaN, not one", "values", models.NanOrOne, [X],
             "the model returns the float NaN and the trace `1.0`", CLOSE),
    faithful("one, not NaN", "values", models.OneOrNan, [X],
             "the model returns `1.0` and the trace the float NaN", CLOSE),
    faithful("another key", "values", models.OtherKey, [X],
             "the model returns a dict with the key `tensor` and the trace one with `other`",
             COMPARE),
    faithful("a named tuple of tensors", "values", models.Largest, [X],
             "both return the largest values and where they are, as `torch.max` does", COMPARE),

)  # fmt: skip

RANDOM = (
    faithful("frozen noise", "noise", models.FrozenNoise, [X],
             "the noise of the trace was drawn while tracing", SEED),
    faithful("fresh noise", "noise", models.FreshNoise, [X, (T(2),)],
             "both draw the same noise under the same seed", SEED),
    faithful("one part that trains", "noise", models.PartOff, [(T(40),)],
             "the part is in training mode, and has an `abs` that the trace does not have", _MODE,
             prepare=models.part_in_training),
    faithful("frozen statistics", "noise", models.NormedAndOffWhileTraining, [X],
             "the layer is in eval mode, and then the model has no `abs`", _MODE, training=True,
             prepare=models.norm_in_eval),
    faithful("noise, then the trace raises", "noise", models.MaskedNoise, [X],
             "without a mask the trace raises an error", ERROR_ADVICE),
    faithful("noise, then the model raises", "noise", models.NoiseOnThree, [(T(2, 2),)],
             raises="ValueError"),
)  # fmt: skip

ARGUMENTS = (
    faithful("`+=` on the input", "arguments", models.AddsOne, [X],
             "only the model changes its argument", ARGS),
    faithful("a list that grows", "arguments", models.Collects, [(T(3), [])],
             "the list of the model grows, and that of the trace does not", ARGS),
    faithful("one tensor given twice, once in a list", "arguments", models.KnowsItsItem, [X],
             "the model sees that its argument is also in the list", ONE_COPY,
             tie=models.given_in_a_list),
    faithful("one tensor in both tuples", "arguments", models.AbsAndLowers, [(ONES,)],
             "no run begins with a negative number, and then they do the same", ARGS,
             tie=models.given_again),
    faithful("a graph module that adds in place", "arguments", models.adds_in_place, [X],
             "the model changes its argument, and its trace does not: tracing `+=` makes `+`",
             _MADE),
)  # fmt: skip

BUFFERS = (
    faithful("a running total", "buffers", models.RunningTotal, [X, (T(2, 2),)],
             "both add to the total and return the same, from the same start", BUFFER_ADVICE),
    faithful("statistics, then the model raises", "buffers", models.NormedAndFlat, [(T(2, 3),), X],
             training=True, raises="RuntimeError"),
    faithful("cleared while it is traced", "buffers", models.ClearsItsShift, [X, X],
             "the model clears its shift, and the trace adds the shift that was there", TRACING),
    faithful("assigned while it is traced", "buffers", models.ReadsItsCount, [X, X],
             "the model reads a count that is one more than that of its trace", TRACING),
    faithful("a count from zero", "buffers", models.AbsOnceCounted, [X, X],
             "for each argument tuple both start from a count of zero", _START,
             prepare=models.count_from_zero),
    faithful("a buffer is returned in a dictionary", "buffers", models.ReturnsItsCountByName, [X],
             "the count that the model returns is one more than that of its trace", _RETURNED),
    faithful("a buffer is returned in a list", "buffers", models.ReturnsItsCountInAList, [X],
             "the count that the model returns is one more than that of its trace", _RETURNED),
    faithful("one buffer with two names", "buffers", models.CountsUnderTwoNames, [X],
             "what they return does not depend on the count", TRACING,
             prepare=models.one_count),
)  # fmt: skip

ERRORS = (
    faithful("the length of a Proxy", "errors", models.DivideByLength, [X],
             "this model cannot be traced: `RuntimeError`", ERROR_ADVICE),
    faithful("an assertion", "errors", models.AssertsTensor, [X],
             "this model raises an `AssertionError` while it is traced", ERROR_ADVICE),
    faithful("an index that only the trace has", "errors", models.LastRow, [X],
             "the trace raises an `IndexError`", ERROR_ADVICE),



)  # fmt: skip

# ------------------------------------------------------------------ the exercise

EXERCISE = Exercise(
    number=2,
    title="Does the trace do what the model does?",
    stars=3,
    minutes=40,
    points=6,
    kind="analysis",
    aspects=(
        Aspect("task", 1, "a trace that differs gives `False`, one that does not gives `True`"),
        Aspect("values", 1, "results of every kind are compared: type, structure, value"),
        Aspect("noise", 1, "both run under the same seed, and the trace is not made under it"),
        Aspect("arguments", 1, "effects on arguments count; the caller's stay as they were"),
        Aspect("buffers", 1, "both start from the same buffers, which are put back at the end"),
        Aspect("errors", 1, "errors of tracing, of the model and of the trace"),
    ),
    cases=(*TASK, *VALUES, *RANDOM, *ARGUMENTS, *BUFFERS, *ERRORS),
    fine_print={
        "`1` is neither `1.0` nor `True`.": ("one, not true",),
        "An exception from the model passes through to your caller.": (
            "statistics, then the model raises",
            "noise, then the model raises",
        ),
        "An exception from the run of the trace means `False`.": (
            "noise, then the trace raises",
            "an index that only the trace has",
        ),
        "A tensor that is given twice in a tuple is one tensor in the copy, too.": (
            "one tensor given twice, once in a list",
        ),
        (
            "Each run starts from the buffer values that the model had when your function was "
            "called."
        ): (
            "a running total",
            "cleared while it is traced",
            "assigned while it is traced",
            "a count from zero",
        ),
        "A model may be in training mode, or only a part of it: it runs as it is given.": (
            "one part that trains",
            "frozen statistics",
        ),
    },
    hints=HINTS,
    not_random="its cards say why a trace differs or agrees, which nobody knows of a drawn model",
)
