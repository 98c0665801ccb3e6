"""Exercise 10.1: fold a BatchNorm into the convolution before it."""

from __future__ import annotations

from typing import Any

import torch

from autograder.authoring.question import Aspect, Case, Exercise, Expect, T
from autograder.exercises.ch10_fusion.fold_bn.models import PairTrial

HINTS = (
    "**Where to look.** The two formulas of section 10.1: one for the weight, one for the bias. "
    "Everything else of the new convolution is as in the old one.",
    "**What to use.** `copy.deepcopy(conv)` has every setting already: stride, groups, padding "
    "mode. `.double()` of a tensor is a wide copy; in which dtype is `eps` not 0? The factor has "
    "one number for each output channel, and the weight has its output "
    "channels in dimension 0: `factor.reshape(-1, 1, 1, 1)` for images, one `1` less for lines. "
    "A bias may be `None`, and so may the BatchNorm's `weight` and `bias`.",
    "**A skeleton.**\n\n"
    "```python\n"
    "if ...:                                # no running statistics, or other channels\n"
    "    raise ValueError(...)\n"
    "new = copy.deepcopy(conv).eval()\n"
    "with torch.no_grad():\n"
    "    factor = ...                       # one number a channel\n"
    "    new.weight = nn.Parameter(...)     # of the dtype that it had\n"
    "    new.bias = nn.Parameter(...)\n"
    "return new\n"
    "```",
)

WIDE_PAIR = T(2, 2, 6, 5)
LINE, IMAGE, WIDE, SPACE = T(2, 2, 7), T(1, 2, 5, 5), T(2, 4, 6, 5), T(1, 2, 3, 4, 3)
NO_STATISTICS = Expect(
    raises="ValueError",
    still_holds=("caller untouched",),
    advice="A BatchNorm with `track_running_stats=False` has nothing to fold: its `running_mean` "
    "is `None`.",
)
MISFIT = Expect(
    raises="ValueError",
    still_holds=("caller untouched",),
    advice="Compare `conv.out_channels` with `bn.num_features` yourself: broadcasting accepts "
    "some sizes that do not fit.",
)


def chain(
    name: str,
    aspect: str,
    dims: int,
    conv: tuple[Any, ...],
    *inputs: T,
    norm: dict[str, Any] | None = None,
    dtype: torch.dtype = torch.float64,
    training: bool = False,
    variance: float = 1.0,
    evaluated: tuple[str, ...] = (),
    dead: bool = False,
    expect: Expect = Expect(),  # noqa: B008 - it is frozen
    **settings: Any,
) -> Case:
    """A case: a convolution and the BatchNorm after it."""
    make = PairTrial(
        dims, conv, settings, norm or {}, inputs, dtype, training, variance, evaluated, dead
    )
    return Case(name, aspect, make, expect)


EXERCISE = Exercise(
    number=1,
    title="Fold a BatchNorm into a convolution",
    stars=2,
    minutes=12,
    points=4,
    kind="layer",
    aspects=(
        Aspect("task", 2, "one convolution does what the two do, with or without a bias"),
        Aspect("settings", 2, "groups, stride, dilation and padding of every kind are kept"),
        Aspect("kinds", 1, "for lines and volumes as for images"),
        Aspect("norm", 1, "`eps` and `affine=False` count"),
        Aspect("dtypes", 1, "in other dtypes"),
        Aspect("caller", 1, "in eval mode, and neither argument is changed"),
        Aspect("errors", 1, "`ValueError` where there is nothing to fold"),
    ),
    cases=(
        chain("a bias", "task", 2, (2, 3, 3), IMAGE, T(2, 2, 3, 4)),
        chain("groups", "settings", 2, (4, 6, 3), WIDE, groups=2),
        chain(
            "not square", "settings", 2, (2, 3, (3, 2)), WIDE_PAIR,
            stride=(2, 1), dilation=(1, 2), padding=(1, 0),
        ),
        chain("replicated", "settings", 1, (2, 3, 3), LINE, padding="same",
              padding_mode="replicate"),
        chain("a line", "kinds", 1, (2, 3, 2), LINE),
        chain("a volume", "kinds", 3, (2, 3, 2), SPACE),
        chain("affine=False", "norm", 2, (2, 3, 1), IMAGE, norm={"affine": False}),
        chain("neither has a bias", "norm", 2, (2, 3, 1), IMAGE, norm={"affine": False},
              bias=False),
        chain("small variances", "norm", 2, (2, 3, 2), IMAGE, norm={"eps": 1e-4}, variance=1e-3),
        chain("float32", "dtypes", 2, (2, 3, 3), IMAGE, dtype=torch.float32),
        chain("bfloat16", "dtypes", 1, (2, 3, 2), LINE, dtype=torch.bfloat16, bias=False),
        chain("a dead channel in float16", "dtypes", 2, (2, 3, 2), IMAGE, dtype=torch.float16,
              norm={"eps": 1e-8}, bias=False, dead=True),
        chain("training mode", "caller", 2, (2, 3, 1), IMAGE, training=True),
        chain("no running statistics", "errors", 2, (2, 3, 1), IMAGE,
              norm={"track_running_stats": False}, expect=NO_STATISTICS),
        chain("one number for three channels", "errors", 1, (2, 3, 2), LINE,
              norm={"features": 1}, expect=MISFIT),
    ),
    fine_print={
        "The dtype of the parameters is kept.": ("bfloat16",),
        "In `float64` the result is compared tightly, in `float32` to 1e-4.": ("float32",),
        "`float16` and `bfloat16` are tried, too, even with a channel whose variance is 0.": (
            "a dead channel in float16",
        ),
    },
    hints=HINTS,
    not_random="its arguments are two layers, and every setting of a layer has a case of its own",
)  # fmt: skip
