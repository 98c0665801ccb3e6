"""Exercise 15.1: clean up a convolutional network for inference."""

from __future__ import annotations

import torch

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    RandomModels,
    T,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch15_capstone.optimize import models

X, Y = (T(1, 2, 3, 3),), (T(2, 2, 4, 3),)
LINE_AND_SPACE = (T(1, 2, 4), T(1, 1, 2, 2, 2))
IMAGE = T(1, 3, 64, 64)

HINTS = (
    "**Where to look.** Section 15.2 names the four clean-ups, and 15.3 what each of them makes "
    "room for. Which of them can make work for one that has already run?",
    "**What to use.** You have written three of the four: `remove_dropout` (03), `sound_dce` (03b) "
    "and `fuse_conv_bn` (10), and 3.5 has `remove_identity`. Here each works on one `gm`, and "
    "returns whether it changed it. `gm.delete_all_unused_submodules()` comes last, "
    "`gm.recompile()` after it.",
    "**A skeleton.**\n\n"
    "```python\n"
    "gm = fx.symbolic_trace(model)\n"
    "modified = True\n"
    "while modified:\n"
    "    modified = False\n"
    "    for clean_up in (...):           # each takes gm, and returns whether it changed it\n"
    "        modified = ... or modified\n"
    "...\n"
    "```",
)

VOCABULARY = Vocabulary(
    ops(
        "[nn.BatchNorm2d(C)]([nn.Conv2d(C, C, 3, padding=1)]({x}))",
        "[nn.BatchNorm2d(C)]([nn.Identity()]([nn.Conv2d(C, C, 1)]({x})))",
        "[nn.BatchNorm2d(C)]([nn.Dropout(0.5)]([nn.Conv2d(C, C, 1, bias=False)]({x})))",
        "[nn.BatchNorm2d(C)](input=F.dropout([nn.Conv2d(C, C, 1)]({x}), training=True))",
        "[nn.BatchNorm2d(C)]([nn.BatchNorm2d(C)]([nn.Conv2d(C, C, 1)]({x})))",
        "[nn.BatchNorm2d(C)](conv := [nn.Conv2d(C, C, 1)]({x})) + conv",
        "[nn.BatchNorm2d(C)](torch.relu([nn.Conv2d(C, C, 1)]({x})))",
        "[nn.BatchNorm2d(C)]([nn.Conv2d(C, C, 3, 1, 2, 2, padding_mode='circular')]({x}))",
        "[nn.BatchNorm2d(C)]([nn.ReLU()]([nn.Conv2d(C, C, 1)]({x})))",
        "[nn.BatchNorm1d(C)]([nn.Conv1d(C, C, 1)]({x}.flatten(2))).view_as({x})",
        "[nn.BatchNorm2d(C)]({x})",
        "[nn.Conv2d(C, C, 1)]({x})",
        "[nn.BatchNorm2d(C)]([=nn.Conv2d(C, C, 1)]({x}))",
        "[=nn.BatchNorm2d(C)]([nn.Conv2d(C, C, 1)]({x}))",
        "[=nn.Conv2d(C, C, 1)]({x})",
        "[nn.Identity()]({x})",
        "[nn.Dropout2d(0.3)](input={x})",
        "F.dropout({x}, 0.3, self.training)",
        "F.dropout3d({x}.unsqueeze(0)).squeeze(0)",
        "F.dropout1d({x}.flatten(2)).view_as({x})",
        dims=(4, 4),
    )
    + ops("{x}.mul_({n})", "torch.relu_({x})", outs=0)
    # Only few other operations, so that pairs are frequent.
    + tuple(op for op in COMMON if "torch.where" not in op.text)[::2],
    shapes=((1, 2, 3, 3), (2, 3, 2, 4)),
    dtypes=(torch.float64,),
    namesakes=("conv_fused", "fused_0", "identity"),
)


def network(name: str, make: models.Maker) -> Case:
    """A case with a network of torchvision."""
    return Case(name, "networks", models.NetworkTrial(make, IMAGE))


EXERCISE = Exercise(
    number=1,
    title="Optimize a network for inference",
    stars=4,
    minutes=60,
    points=10,
    kind="transform",
    aspects=(
        Aspect("task", 3, "a network is cleaned up, however deep its layers are"),
        Aspect("identities", 2, "dropouts and identities are gone, in every spelling"),
        Aspect("dead", 2, "dead code is gone, and calls that are read, or have an effect, stay"),
        Aspect("pairs", 3, "pairs are fused, and all other layers stay"),
        Aspect("meet", 3, "pairs are fused that meet only when something else is gone"),
        Aspect("networks", 2, "networks of torchvision that the chapter does not name"),
    ),
    cases=(
        model_case("a little of everything", "task", models.Small, X, Y),
        model_case("two stages", "task", models.Stages, X),
        model_case("functions", "identities", models.DropoutFunctions, X),
        model_case("nothing but identities", "identities", models.Identities, X),
        model_case("inside a leaf", "identities", models.InsideALeaf, (T(1, 3, 4),)),
        model_case("dropouts in place", "identities", models.DropoutsInPlace, X),
        model_case("as the caller says", "identities", models.DropoutAsTold, X),
        model_case("a dead BatchNorm", "dead", models.DeadNorm, X),
        model_case("dead logic", "dead", models.DeadLogic, X),
        model_case("dead questions", "dead", models.DeadQuestions, X),
        model_case("dead names", "dead", models.DeadNames, X),
        model_case("effects", "dead", models.Effects, X),
        model_case("a print", "dead", models.Prints, X),
        model_case("what is written to", "dead", models.WrittenTo, X),
        model_case("nothing of it is dead", "dead", models.Repeats, X),
        model_case("keywords", "pairs", models.Keywords, X),
        model_case("lines and volumes", "pairs", models.LineAndSpace, LINE_AND_SPACE),
        model_case("no pairs", "pairs", models.NoPairs, X),
        model_case("its input is changed", "pairs", models.WrittenBetween, X),
        model_case("a linear layer", "pairs", models.LinearNorm, X),
        model_case("other BatchNorms", "pairs", models.OtherNorms, X),
        model_case("names of others", "pairs", models.NamesOfOthers, X),
        model_case("an identity between them", "meet", models.MeetAfterIdentity, X),
        model_case("two BatchNorms in a row", "meet", models.TwoNorms, X),
        network("SqueezeNet", models.squeezenet),
    ),
    fine_print={
        "The result computes what the model computes while every dropout does nothing.": (
            "functions",
            "dropouts in place",
            "as the caller says",
        ),
        (
            "The cases have convolutions that are called twice, weights that are read, calls by "
            "keyword, nested layers, names that are taken, dropouts that are returned, and a model "
            "of nothing but identities."
        ): (
            "a little of everything",
            "two stages",
            "nothing but identities",
            "keywords",
            "names of others",
            "redraw: a pair for each call",
            "redraw: a tied weight",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY),
)
