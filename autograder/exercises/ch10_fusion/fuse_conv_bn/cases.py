"""Exercise 10.2: fuse each convolution with its BatchNorm, in any model."""

from __future__ import annotations

from functools import partial

import torch

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Exercise,
    RandomModels,
    T,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch10_fusion.fuse_conv_bn import models

LINE_AND_SPACE = (T(1, 2, 4), T(1, 1, 2, 2, 2))
X, Y = (T(1, 2, 3, 3),), (T(2, 2, 4, 3),)

HINTS = (
    "**Where to look.** Begin at each BatchNorm and look at what it reads. Section 10.3 has the "
    "list of questions, and section 10.2 what happens if you forget one of them.",
    "**What to use.** `type(module) in CONVS`, `len(conv_node.users) == 1`, your `fold_bn`, "
    "`gm.add_submodule(name, module)` with a name that is free, and "
    "`gm.delete_all_unused_submodules()`. Two nodes become one: which of the two places is "
    "right for it?",
    "**A skeleton.**\n\n"
    "```python\n"
    "gm = fx.symbolic_trace(model)\n"
    "for node in list(gm.graph.nodes):\n"
    "    if ...:                        # not a call of a BatchNorm that can be folded\n"
    "        continue\n"
    "    (source,) = node.all_input_nodes\n"
    "    if ...:                        # not a call of a convolution, or it has other readers\n"
    "        continue\n"
    "    name = ...                     # no attribute of gm is called that\n"
    "    gm.add_submodule(name, fold_bn(..., ...))\n"
    "    ...                            # the convolution's node calls the new module\n"
    "    ...                            # all readers of the BatchNorm read that node; erase\n"
    "...\n"
    "```",
)

VOCABULARY = Vocabulary(
    ops(
        "[nn.BatchNorm2d(C)]([nn.Conv2d(C, C, 3, padding=1)]({x}))",
        "[nn.BatchNorm2d(C)](input=[nn.Conv2d(C, C, 1, bias=False)](input={x}))",
        "[nn.BatchNorm2d(C)]([nn.Conv2d(C, C, 3, 1, 2, 2, padding_mode='circular')]({x}))",
        "[nn.Conv2d(C, C, 1)]({x})",
        "[nn.BatchNorm2d(C)]({x})",
        "[nn.BatchNorm2d(C)](torch.relu([nn.Conv2d(C, C, 1)]({x})))",
        "[nn.BatchNorm2d(C)](conv := [nn.Conv2d(C, C, 1)]({x})) + conv",
        "[nn.Sequential(nn.Conv2d(C, C, 1), nn.BatchNorm2d(C), nn.ReLU())]({x})",
        "[nn.BatchNorm2d(C, affine=False)]([nn.Conv2d(C, C, 3, padding=1, groups=C)]({x}))",
        "[nn.BatchNorm2d(C, track_running_stats=False)]([nn.Conv2d(C, C, 1)]({x}))",
        "[nn.BatchNorm2d(C)]([nn.ConvTranspose2d(C, C, 1)]({x}))",
        "[nn.BatchNorm2d(C)]([nn.BatchNorm2d(C)]([nn.Conv2d(C, C, 1)]({x})))",
        "[nn.BatchNorm2d(C)]([=nn.Conv2d(C, C, 1)]({x}))",
        "[=nn.BatchNorm2d(C)]([nn.Conv2d(C, C, 1)]({x}))",
        "[=nn.Conv2d(C, C, 1)]({x})",
        "torch.relu({a})",
        dims=(4, 4),
    )
    + ops("{x}.mul_({n})", outs=0)
    + tuple(op for op in COMMON if "torch.where" not in op.text),
    shapes=((1, 2, 3, 3), (2, 3, 2, 4)),
    dtypes=(torch.float64,),
    namesakes=("conv_fused", "fused_0"),
    dead=False,
)


EXERCISE = Exercise(
    number=2,
    title="Fuse every convolution with its BatchNorm",
    stars=4,
    minutes=30,
    points=8,
    kind="transform",
    aspects=(
        Aspect("task", 3, "each pair becomes one convolution, however deep it is"),
        Aspect("calls", 2, "by type, by keyword, for lines and volumes, with names that are free"),
        Aspect("left", 2, "everything else is left alone"),
        Aspect("shared", 3, "a layer that is used elsewhere does not change there"),
        Aspect("gone", 2, "BatchNorms that nothing uses any more are gone, and no others"),
        Aspect("writes", 1, "the new convolution reads what the old one read"),
    ),
    cases=(
        model_case("one pair", "task", models.OnePair, X, Y),
        model_case("a row of one", "task", partial(models.PairsInARow, 1), X),
        model_case("a row of two", "task", models.PairsInARow, X),
        model_case("keywords", "calls", models.Keywords, X),
        model_case("lines and volumes", "calls", models.LineAndSpace, LINE_AND_SPACE),
        model_case("misleading names", "calls", models.NamesMislead, X),
        model_case("names that are taken", "calls", models.NamesTaken, X),
        model_case("after a linear layer", "left", models.LinearPair, (T(3, 2),)),
        model_case("returned, too", "left", models.AlsoReturned, X),
        model_case("without statistics", "left", models.NoStatistics, X),
        model_case("one BatchNorm trains", "left", models.TwoPairs, Y, prepare=models.one_trains),
        model_case("no pairs", "left", models.NoPairs, X),
        model_case("called twice", "shared", models.CalledTwice, X),
        model_case("a weight that is read, and tied", "shared", models.ReadWeight, X),
        model_case("a graph module", "shared", models.Traced(models.OncePlain), X),
        model_case("a BatchNorm that is called elsewhere", "gone", models.NormUsedElsewhere, X),
        model_case("a BatchNorm whose weight is read", "gone", models.NormIsRead, X),
        model_case("its input is changed", "writes", models.WrittenBetween, X),
    ),
    fine_print={
        (
            "If the input is changed in place between the two, the new convolution still sees "
            "what the old one saw."
        ): (
            "its input is changed",
        ),
        "A new layer needs a name that is free.": ("names that are taken",),
        "Pairs may be nested, there may be several, and layers may be called by keyword.": (
            "a row of two",
            "keywords",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY),
)  # fmt: skip
