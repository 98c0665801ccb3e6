"""Exercise 12c.2: fuse an RMS norm in all of its spellings into one call."""

from __future__ import annotations

from collections.abc import Callable

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
    ops,
    program_of,
)
from autograder.exercises.ch12c_normalize.fuse_rms_norm import models
from autograder.exercises.ch12c_normalize.fuse_rms_norm.models import BFLOAT, FLOAT, HALF

HINTS = (
    "**Where to look.** Begin at the end: which node can only be the last step of a norm, or the "
    "one before it? Walk from there to the square, one step at a time, and write down what each "
    "step must be: which operator, which arguments, how many readers.",
    "**What to use.** `graph.find_nodes(op='call_function', target=...)` gives the roots. "
    "`node.users` are the readers, the output among them. `node.meta['val']` has `ndim`, `shape` "
    "and `dtype`. The new node goes where everything that it reads is there already: before the "
    "node whose place it takes.",
    "**A skeleton.**\n\n"
    "```python\n"
    "count = 0\n"
    "for root in ...:                       # each call of rsqrt\n"
    "    product = ...                      # its only reader\n"
    "    x, eps = ...                       # or this is no norm\n"
    "    last, weight = product, None\n"
    "    if ...:                            # x is a cast, and last is cast back\n"
    "        ...\n"
    "    if ...:                            # the only reader is a product with a weight\n"
    "        ...\n"
    "    with gm.graph.inserting_before(last):\n"
    "        new = ...\n"
    "    new.meta['val'] = ...\n"
    "    ...                                # its readers, and what nobody reads now\n"
    "    count += 1\n"
    "...                                    # the code\n"
    "return count\n"
    "```",
)

X, W, ROWS = T(2, 3), T(3), T(2, 4, 3)
H, HW, HALVES = T(2, 3, dtype=HALF), T(3, dtype=HALF), T(4, 2, 3, dtype=HALF)
B, BW = T(2, 3, dtype=BFLOAT), T(3, dtype=BFLOAT)


def case(name: str, aspect: str, make: Callable[[], nn.Module], *inputs: T) -> Case:
    """A case with the recorded graph of one class."""
    expect = Expect(trace=models.Recorded(inputs))
    return Case(name, aspect, models.Graphs(make, inputs), expect)


def recorded(recipe: Recipe) -> Expect:
    """The recorder for a random model's graph."""
    inputs, *_ = program_of(recipe, VOCABULARY).inputs
    return Expect(trace=models.as_recorded(inputs))


VOCABULARY = Vocabulary(
    ops(
        "{x} * torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + 1e-6)",
        "torch.rsqrt(({x} * {x}).mean(-1, True) + 1e-5) * {x}",
        "{y}.flatten(0, -2).sum(0) * ({x} * torch.rsqrt(({x} ** 2).mean(-1, True) + 0.01))",
        "({x} * torch.rsqrt({x}.square().mean(-1, True) + 1e-6)) * {a}",
        "((wide := (low := {x}.half()).float())"
        " * torch.rsqrt(wide.pow(2).mean(-1, True) + 1e-6)).to(low).float()",
        "(torch.rsqrt(((low := {x}.bfloat16()).float() * low.float()).mean(-1, True) + 1e-4)"
        " * low.float()).to(low).mul({y}.flatten(0, -2).sum(0).to(low)).float()",
        "(wide := {x}.half().float()) * torch.rsqrt((wide * wide).mean(-1, True) + 1e-6)",
        "({x} * torch.rsqrt({x}.pow(2).mean(-1, True) + 1e-6)).half().float()",
        "(diff := {x} - {y}) * torch.rsqrt((diff * diff).mean(-1, keepdim=True) + 1e-3)",
        dims=(2, 4),
    )
    + ops(
        "{y} * torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + 1e-6)",
        "{x} * torch.rsqrt(({x} * {y}).abs().mean(-1, keepdim=True) + 1e-6)",
        "{x} * (root := torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + 1e-6)) + root",
        "(square := {x} * {x}) * torch.rsqrt(square.mean(-1, keepdim=True) + 1e-6)",
        "{x} * torch.rsqrt({x}.pow(2).mean(0, keepdim=True) + 1e-6)",
        "{x} * torch.rsqrt({x}.pow(4).mean(-1, keepdim=True) + 1e-6)",
        "{x} * torch.rsqrt({x}.pow(2).mean(-1, True) + {b}.pow(2).mean())",
        "(norm := {x} * torch.rsqrt({x}.pow(2).mean(-1, True) + 1e-6)) * {a} + norm",
        dims=(2, 4),
    )
    # Only few other operations, so that similar patterns are frequent.
    + tuple(op for op in COMMON if not op.layers)[::6],
    shapes=((2, 3), (4, 2, 3), (2, 2, 2, 3)),
    inputs=("", "tensor", "row"),
    dtypes=(FLOAT,),
    traced=False,
    parts=False,
    dead=False,
    most=6,
)

EXERCISE = Exercise(
    number=2,
    title="A norm in all its spellings",
    stars=3,
    minutes=35,
    points=8,
    kind="graph_edit",
    aspects=(
        Aspect("task", 3, "every norm in float32 is one call of the operator"),
        Aspect("casts", 2, "half precision: casts to float32, and the cast back"),
        Aspect("weight", 2, "what is a weight goes in, and nothing else"),
        Aspect("others", 2, "what only looks like a norm is left alone"),
    ),
    cases=(
        case("one norm", "task", models.Plain, X),
        case("a product, and a number", "task", models.Product, ROWS),
        case("a block with two norms", "task", models.Block, X, W, T(3, 3), W, T(3, 3)),
        case("one is there already", "task", models.OneIsThere, X, W),
        case("half, one cast", "casts", models.OneCast, H, HW),
        case("half, a cast for each use", "casts", models.CastForEachUse, H, HW),
        case("bfloat16, no weight", "casts", models.NoWeight, B),
        case("the weight before the cast", "casts", models.WeightBeforeCast, H, HW),
        case("no cast back", "casts", models.StaysFloat, H),
        case("no weights", "weight", models.NoWeights, X, T(2, 1), HW, T(1), X),
        case("a second reader", "weight", models.SecondReader, X, W),
        case("the weight comes later", "weight", models.WeightComesLater, X, X),
        case("times itself", "weight", models.TimesItself, X),
        case("one row", "weight", models.OneRow, X, T(1, 3)),
        case("the square is read", "others", models.SquareIsRead, X),
        case("the mean is read", "others", models.MeanIsRead, X, W),
        case("the sum is read", "others", models.SumIsRead, X),
        case("the root is read", "others", models.RootIsRead, X, X),
        case("other powers", "others", models.OtherPowers, X),
        case("other steps", "others", models.OtherSteps, X),
        case("other dimensions", "others", models.OtherDimensions, T(3, 3)),
        case("two values", "others", models.TwoValues, X, X),
        case("an eps that is a tensor", "others", models.EpsIsATensor, X, T()),
        case("sums and maxima", "others", models.Lengths, X),
    ),
    fine_print={
        "The product with the weight comes after the cast back.": ("the weight before the cast",),
        "Inner values are the square, the mean, the sum and the root.": (
            "the square is read",
            "the mean is read",
            "the sum is read",
            "the root is read",
        ),
        "Other powers, other dimensions, and products of two values are left alone.": (
            "other powers",
            "other dimensions",
            "two values",
        ),
        (
            "A norm that is not cast back to the dtype of `x` may be fused on its float32 value, "
            "or left."
        ): ("no cast back",),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.of_random_model, count=12, expect=recorded),
)  # fmt: skip
