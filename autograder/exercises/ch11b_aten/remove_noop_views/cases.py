"""Exercise 11b.1: remove views that do nothing."""

from __future__ import annotations

from collections.abc import Callable

import torch
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
from autograder.exercises.ch11b_aten.remove_noop_views import models

X, LONG, TALL, SQUARE = T(2, 3), T(2, 6), T(4, 3), T(4, 4)

HINTS = (
    "**Where to look.** Print each node with the shape in its `meta`. Look for nodes with the "
    "shape of what they read, and for views of a view. A change may make another one "
    "possible. And if a reshape goes, which view relied on its copy?",
    "**What to use.** `node.meta['val'].shape`, and `statically_known_true(a == b)` for each pair "
    "of sizes, in which nothing is guarded. `node.replace_all_uses_with(source)` reaches the "
    "output too; `node.replace_input_with(old, new)` changes what a node reads, and its sizes and "
    "its `meta` stay. A node without readers has no `users`.",
    "**A skeleton.**\n\n"
    "```python\n"
    "before = ...                          # how many nodes of the four kinds\n"
    "for node in gm.graph.nodes:           # sources first\n"
    "    if ...:                           # the shape of what it reads\n"
    "        ...\n"
    "    elif ...:                         # a view that reads a view\n"
    "        ...                           # read further up; which operator works for both?\n"
    "...                                   # a merged node may do nothing now\n"
    "for node in reversed(...):            # readers first\n"
    "    if ...:                           # nothing reads it\n"
    "        gm.graph.erase_node(node)\n"
    "...                                   # the code\n"
    "return before - ...\n"
    "```",
)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: T,
    symbolic: tuple[tuple[int, ...], ...] = (),
    more: tuple[tuple[T, ...], ...] = (),
) -> Case:
    """A case with the graph of one class."""
    return Case(name, aspect, models.Graphs(make, inputs, symbolic, more))


BOTH, ROWS, THREE = ((0, 1),), ((0,),), ((0, 1), (0,))

VOCABULARY = Vocabulary(
    ops(
        "{x}.reshape(-1).view({x}.shape)",
        "{x}.view({x}.shape)",
        "{x}.expand({x}.shape)",
        "{x}[:]",
        "{x}.reshape(-1).reshape(1, -1).sum(1) * {y}",
    )
    + ops(
        "{x}.view(-1).exp().view({x}.shape)",
        "{x}[0:5].view(-1).reshape({x}.shape)",
        "{x}.view(-1)[:].reshape({x}.shape).view({x}.shape)",
        "{x}.transpose(0, -1).reshape(-1).view({x}.shape)",
        "{x} - {y}.sum(0, keepdim=True).expand({x}.shape)",
        "{x}.unsqueeze(0)[0:1].view({x}.shape)",
        "(v := {x}.view(-1)).sin().sum() + v.view(1, -1).view({x}.shape)",
        "{x}.view(-1).view(1, -1).reshape(-1, 1).exp().sum() * {y}",
        dims=(1, 4),
    )
    # Parts of a chunk are not contiguous, so `view` would refuse them.
    + tuple(op for op in COMMON if not op.layers and "chunk" not in op.text),
    shapes=((2, 3), (3,), (2, 1, 3)),
    inputs=("", "tensor"),
    dtypes=(torch.float32,),
    traced=False,
    most=6,
)

EXERCISE = Exercise(
    number=1,
    title="Views that do nothing",
    stars=3,
    minutes=30,
    points=7,
    kind="compiler_backend",
    aspects=(
        Aspect("task", 2, "what gives its input's shape goes, and what nobody reads"),
        Aspect("merged", 2, "no view reads a view; a merged node works wherever both did"),
        Aspect("others", 2, "what changes the shape stays, and so do other operators"),
        Aspect("symbolic", 2, "symbolic sizes: only what is known, and no guard"),
    ),
    cases=(
        case("the same shape", "task", models.SameShape, X),
        case("four kinds", "task", models.FourKinds, X),
        case("many readers", "task", models.ManyReaders, X),
        case("dead from the start", "task", models.DeadFromTheStart, X),
        case("slices of all", "task", models.WholeSlices, T(1, 3)),
        case("a view of a view", "merged", models.ViewOfView, LONG),
        case("a view of a reshape", "merged", models.Transposed, LONG),
        case("still read", "merged", models.StillRead, LONG),
        case("read by dead code", "merged", models.ReadByDeadCode, LONG),
        case("there, back, and on, transposed", "merged", models.TransposedBackAndOn, LONG),
        case("another shape", "others", models.Needed, TALL),
        case("one dimension more", "others", models.OneDimensionMore, X),
        case("slices of slices", "others", models.SliceOfSlice, T(6, 3)),
        case("relatives", "others", models.Relatives, X),
        case("two sizes", "symbolic", models.TwoSizes, SQUARE, symbolic=BOTH,
             more=((T(2, 3),),)),
        case("one size, written in two ways", "symbolic", models.SameSizeOtherwise, TALL,
             symbolic=BOTH, more=((T(3, 5),),)),
        case("slices up to a size", "symbolic", models.SymbolicSlices, SQUARE, T(4),
             symbolic=THREE, more=((T(5, 3), T(2)),)),
    ),
    fine_print={
        "None of the four is left without a reader, even if it had none at the start.": (
            "dead from the start",
        ),
        "A view that a node of another kind still reads stays.": ("still read",),
        "Symbolic sizes are the same only if they are *known* to be.": (
            "two sizes",
            "one size, written in two ways",
            "slices up to a size",
        ),
        (
            "Nodes of other kinds stay, dead ones too: `view.dtype`, `_unsafe_view`, `unsqueeze`, "
            "`permute` or `sym_size`, whatever they do."
        ): (
            "read by dead code",
            "relatives",
            "redraw: relatives",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.of_random_model, count=6),
)  # fmt: skip
