"""Exercise 10.1: a convolution and the BatchNorm after it become one convolution."""

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


def _case(
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
    hidden: bool = False,
    **settings: Any,
) -> Case:
    make = PairTrial(
        dims, conv, settings, norm or {}, inputs, dtype, training, variance, evaluated, dead
    )
    return Case(name, aspect, make, hidden, expect)


EXERCISE = Exercise(
    name="fold_bn",
    number=1,
    chapter="10_fusion",
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
        _case("a bias", "task", 2, (2, 3, 3), IMAGE, T(2, 2, 3, 4)),
        _case("no bias", "task", 2, (2, 3, 1), IMAGE, bias=False),
        _case("groups", "settings", 2, (4, 6, 3), WIDE, groups=2),
        _case(
            "each channel by itself", "settings", 2, (4, 4, 3), WIDE,
            groups=4, stride=2, dilation=2, padding=(2, 1),
        ),
        _case(
            "not square", "settings", 2, (2, 3, (3, 2)), WIDE_PAIR,
            stride=(2, 1), dilation=(1, 2), padding=(1, 0),
        ),
        _case("padding 'same'", "settings", 2, (2, 3, 2), IMAGE, padding="same"),
        _case("padding 'valid'", "settings", 2, (2, 3, (3, 2)), IMAGE, padding="valid"),
        _case("circular", "settings", 1, (2, 3, 3), LINE, padding=2, padding_mode="circular"),
        _case("reflected", "settings", 2, (2, 3, 3), IMAGE, padding=1, padding_mode="reflect"),
        _case("replicated", "settings", 1, (2, 3, 3), LINE, padding="same",
              padding_mode="replicate"),
        _case("a line", "kinds", 1, (2, 3, 2), LINE),
        _case("a volume", "kinds", 3, (2, 3, 2), SPACE),
        _case("affine=False", "norm", 2, (2, 3, 1), IMAGE, norm={"affine": False}),
        _case("neither has a bias", "norm", 2, (2, 3, 1), IMAGE, norm={"affine": False},
              bias=False),
        _case("small variances", "norm", 2, (2, 3, 2), IMAGE, norm={"eps": 1e-4}, variance=1e-3),
        _case("a large eps", "norm", 1, (2, 3, 2), LINE, norm={"eps": 0.5}, bias=False),
        _case("float32", "dtypes", 2, (2, 3, 3), IMAGE, dtype=torch.float32),
        _case("float16", "dtypes", 2, (2, 3, 2), IMAGE, dtype=torch.float16),
        _case("bfloat16", "dtypes", 1, (2, 3, 2), LINE, dtype=torch.bfloat16, bias=False),
        _case("a dead channel in float16", "dtypes", 2, (2, 3, 2), IMAGE, dtype=torch.float16,
              norm={"eps": 1e-8}, bias=False, dead=True),
        _case("training mode", "caller", 2, (2, 3, 1), IMAGE, training=True),
        _case("no running statistics", "errors", 2, (2, 3, 1), IMAGE,
              norm={"track_running_stats": False}, expect=NO_STATISTICS),
        _case("other channels", "errors", 2, (2, 3, 1), IMAGE, norm={"features": 4},
              expect=MISFIT),
        _case("one number for three channels", "errors", 1, (2, 3, 2), LINE,
              norm={"features": 1}, expect=MISFIT),
        _case("three numbers for one channel", "errors", 1, (2, 1, 2), LINE,
              norm={"features": 3}, expect=MISFIT),
        _case("redraw: a bias", "task", 2, (2, 5, 2), IMAGE, hidden=True),
        _case("redraw: groups", "settings", 1, (2, 4, 3), LINE, groups=2, padding=1, hidden=True),
        _case("redraw: a volume", "kinds", 3, (2, 2, 1), SPACE, bias=False, hidden=True),
        _case("redraw: only the BatchNorm trains", "caller", 2, (2, 3, 1), IMAGE, training=True,
              evaluated=("conv",), hidden=True),
        _case("redraw: only the convolution trains", "caller", 1, (2, 3, 2), LINE, training=True,
              evaluated=("bn",), hidden=True),
        _case("redraw: one number, without parameters", "errors", 2, (3, 4, 1), T(1, 3, 4, 4),
              norm={"features": 1, "affine": False}, expect=MISFIT, training=True, hidden=True),
        _case("redraw: no statistics, in training mode", "errors", 1, (2, 3, 2), LINE,
              norm={"track_running_stats": False}, expect=NO_STATISTICS, training=True,
              hidden=True),
        _case("redraw: float32", "dtypes", 1, (2, 4, 3), LINE, dtype=torch.float32, hidden=True),
    ),
    key=f"{__package__}.key",
    fine_print={
        "The dtype of the parameters is kept.": ("float16", "bfloat16"),
        "In `float64` the result is compared tightly, in `float32` to 1e-4.": (
            "float32",
            "redraw: float32",
        ),
        "`float16` and `bfloat16` are tried, too, even with a channel whose variance is 0.": (
            "a dead channel in float16",
        ),
    },
    hints=HINTS,
    not_random="its arguments are two layers, and every setting of a layer has a case of its own",
)  # fmt: skip
