"""Exercise 3b.2: remove dead code, but nothing that has an effect."""

from __future__ import annotations

import builtins
import operator

import torch

from autograder.authoring.question import (
    Aspect,
    Exercise,
    Op,
    RandomModels,
    T,
    Vocabulary,
    Wrapped,
    model_case,
    ops,
)
from autograder.exercises.ch03b_effects.sound_dce import models
from autograder.exercises.ch03b_effects.sound_dce.models import (
    with_a_frozen_norm,
)

X, WIDE = T(2, 3), T(4, 3)
BITS = T(2, 3, dtype=torch.int64)


HINTS = (
    """**Where to look.** Section 3b.2 has a table of effects and how you see each of them.
Write a function of your own that answers one question about a node:
may this call do anything besides returning a value?""",
    """**What to use.** Go through `reversed(list(gm.graph.nodes))`, look at `node.users`, and call
`graph.erase_node`. For names, look at `node.target` of a method, and at `node.target.__name__`
of a function. For modules, look at the module that `gm.get_submodule` gives you, not at its
parents. Delete unused submodules at the end.""",
    """**A skeleton.**

```python
gm = ...

def has_effect(node):
    if node.op in ("placeholder", "output"):
        ...
    if ...:                                # keywords: inplace, out
        ...
    if node.op == "call_module":
        ...                                # BatchNorm in training mode, inplace
    if node.op == "call_method":
        ...                                # the name
    if node.op == "call_function":
        ...                                # a list of functions, then the name
    return False

for node in reversed(list(gm.graph.nodes)):
    if ... and not has_effect(node):
        ...
...
```""",
)


def recorded(*texts: str) -> tuple[Op, ...]:
    """Calls of functions wrapped by `fx.wrap`, without a use of their values."""
    calls = (f'{text}  # recorded: fx.wrap("{text.partition("(")[0]}")' for text in texts)
    return ops(*calls, outs=0)


VOCABULARY = Vocabulary(
    ops("[nn.BatchNorm2d(C)]({x})", "[nn.BatchNorm2d(C)]({x})", dims=(4, 4), outs=0)
    + ops("[nn.BatchNorm1d(C)]({x})", "[nn.BatchNorm1d(C)]({x})", dims=(2, 3), outs=0)
    + ops(
        "{x}.mul_({n})",
        "{x}[...].zero_()",
        "torch.relu_({x})",
        "F.relu({x}, inplace=True)",
        "F.relu({a}, inplace=False)",
        "[nn.ReLU(inplace=True)]({x})",
        "[nn.Hardtanh(-0.5, 0.5, inplace=True)]({x})",
        "[nn.ReLU()]({a})",
        "torch.mul({x}, {n}, out={y})",
        "torch.sort({x}.neg(), out=({y}, torch.sort({x})[1]))",
        "{x}.__setitem__(..., 0.5)",
        "{x}.__iadd__({b})",
        'torch._assert({x}.dim() < 5, "too many dimensions")',
        "({a} > 0) & ({b} > 0)",
        outs=0,
    )
    + recorded(
        "setitem({x}, ..., {b})",
        "iadd({x}, {b})",
        "imul({x}, {n})",
        "ior({x} > 0, {y} > 0)",
        "ilshift({x}.long(), 1)",
        'print("the sum is", {a}.sum())',
        "not_({a}.dim())",
        "is_({a}, {b})",
    )
    + ops("{x} * [nn.PReLU()].weight", "[nn.Linear(D, D)]({x})", dims=(1, 4))
    + ops(
        "{x}.add_({b})",
        "{a}.log_softmax(-1)",
        "{a} * [nn.Parameter(torch.ones(()))]",
        "torch.sigmoid({a})",
        "{a} * {b}",
        "torch.stack([{x}, {y}]).sum(0)",
        "{a}.clone()",
        "{a} - {n}",
    )
    + (Op("torch.cat([{x}, {y}], dim=-1).chunk(2, dim=-1)", (1, 4), outs=2),),
    shapes=((2, 3), (1, 2, 4, 4), (2, 1, 3), (3,), ()),
    training=True,
    namesakes=("relu_", "norm"),
    names={
        name: Wrapped(getattr(builtins if name == "print" else operator, name))
        for name in ("setitem", "iadd", "imul", "ior", "ilshift", "print", "not_", "is_")
    },
    most=12,
)


EXERCISE = Exercise(
    number=2,
    title="Dead code, soundly",
    stars=3,
    minutes=20,
    points=6,
    kind="transform",
    aspects=(
        Aspect("dead", 2, "dead chains are gone entirely"),
        Aspect("modules", 1, "and so are modules that nothing calls any more"),
        Aspect("in place", 2, "methods, functions and modules in place are kept"),
        Aspect("items", 1, "so are assignments to items, and operators in place"),
        Aspect("norms", 2, "BatchNorm is kept in training mode, and only then"),
        Aspect("checks", 1, "`torch._assert` and `print` are kept"),
        Aspect("pure", 1, "pure calls with misleading names are not kept"),
        Aspect("rest", 1, "signatures, and models of every kind"),
    ),
    cases=(
        model_case("a dead chain", "dead", models.DeadChain, (X,), (T(5),)),
        model_case("a dead tangle", "dead", models.DeadTangle, (X, WIDE)),
        model_case("dead attributes", "dead", models.DeadAttributes, (X,)),
        model_case("dead modules", "modules", models.DeadModule, (X,)),
        model_case("deep in a leaf", "modules", models.DeepInALeaf, (T(2, 3, 4),)),
        model_case("a method in place", "in place", models.InPlaceMethod, (X,), (T(5),)),
        model_case("functions in place", "in place", models.InPlaceFunction, (X,)),
        model_case("inplace=True", "in place", models.InPlaceKeyword, (X,)),
        model_case("a dropout in place", "in place", models.InPlaceDropout, (X,)),
        model_case("out= with a tuple", "in place", models.OutTuple, (X,)),
        model_case("the method __setitem__", "items", models.SetItemMethod, (X,)),
        model_case("operator.setitem", "items", models.SetItemFunction, (X, X)),
        model_case("operators in place", "items", models.InPlaceOperators, (X, X)),
        model_case("and of bits", "items", models.BitOperators, (BITS, BITS)),
        model_case("operators in place, as methods", "items", models.OperatorMethods, (BITS,)),
        model_case("a norm in training mode", "norms", models.Norm, (WIDE,), training=True),
        model_case("a norm in eval mode", "norms", models.Norm, (WIDE,)),
        model_case("a norm of volumes", "norms", models.Norm3d, (T(2, 2, 2, 2, 2),), training=True),
        model_case(
            "norms without statistics", "norms", models.OtherNorms, (T(2, 2, 3),), training=True
        ),
        model_case("an assertion", "checks", models.Assertion, (X,)),
        model_case("a print", "checks", models.Prints, (X,)),
        model_case("and, or", "pure", models.Logic, (BITS, BITS)),
        model_case("not, is", "pure", models.PureNames, (X, X)),
        model_case("underscores", "pure", models.Underscores, (X,)),
        model_case("a graph module", "rest", models.traced_mixed, (X,)),
    ),  # fmt: skip
    fine_print={
        (
            "`torch._assert` and `print` stay, too, and so do `operator.setitem`, "
            "`operator.iadd` and its family, and their methods, such as `__iadd__`."
        ): (
            "an assertion",
            "a print",
            "operator.setitem",
            "operators in place",
            "and of bits",
            "operators in place, as methods",
            "the method __setitem__",
        ),
        "Modules that are no longer called go.": (
            "dead modules",
            "redraw: names alike",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, with_a_frozen_norm),
)
