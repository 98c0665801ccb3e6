"""Exercise 14.3: pairs that cancel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

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
from autograder.exercises.ch14_quantization.fold_qdq import models
from autograder.exercises.ch14_quantization.models import GIVEN, GraphTrial, itself

HINTS = (
    "**Where to look.** Begin at each `quantize`, and go up: what does it read? "
    "`without_negations` in section 14.4 does this for two calls. Here moves may be between the "
    "two.",
    "**What to use.** `while` goes up through the four methods, as long as nobody else reads "
    "them: `len(value.users)`. "
    "`node.replace_input_with(old, new)` changes what a node reads, "
    "`node.replace_all_uses_with(new)` what its readers read. In graph order, the input of a "
    "node is folded before the node.",
    "**A skeleton.**\n\n"
    "```python\n"
    "new = ...\n"
    "for node in list(new.graph.nodes):\n"
    "    if ...:                              # not a quantize\n"
    "        continue\n"
    "    value, scale = node.args\n"
    "    way = []                             # the moves between, last one first\n"
    "    while ...:\n"
    "        way.append(value)\n"
    "        value = value.args[0]\n"
    "    if ...:                              # not a dequantize, or another scale\n"
    "        continue\n"
    "    if way:\n"
    "        ...                              # which of them reads the int8 value now?\n"
    "    ...                                  # and what do the readers of node read?\n"
    "for node in reversed(...):\n"
    "    ...                                  # dequantize calls that nobody reads\n"
    "```",
)

X = T(2, 3)
EIGHT = T(2, 3, dtype=torch.int8)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: tuple[Any, ...],
) -> Case:
    """A case of ``fold_qdq(gm)``."""
    return Case(name, aspect, GraphTrial(make, inputs or ((X,),)), Expect(trace=itself))


VOCABULARY = Vocabulary(
    ops(
        "dequantize(quantize({a}, 0.1), 0.1)",
        "dequantize(quantize({x}, 0.25), 0.25)",
        "dequantize(quantize({x}, 0.1), 0.1)",
    )
    + ops(
        "dequantize(quantize(through({x}, 0.1).transpose(0, -1).transpose(0, -1), 0.1), 0.1)",
        "through(through({a}, 0.1).flatten().reshape({a}.shape), 0.1)",
        "through(through({x}, 0.25).flatten(), 0.25).reshape({x}.shape)",
        dims=(1, 4),
    )
    + tuple(op for op in COMMON if ".reshape" not in op.text),
    dtypes=(torch.float32,),
    names={**GIVEN, "through": models.through},
    dead=False,
)


EXERCISE = Exercise(
    number=3,
    title="Pairs that cancel",
    stars=3,
    minutes=25,
    points=5,
    kind="rewrite",
    aspects=(
        Aspect("task", 2, "a `quantize` of a `dequantize` of the same scale is removed"),
        Aspect("readers", 1, "even if the values have other readers"),
        Aspect("scales", 1, "only if the scales are equal as numbers"),
        Aspect("moves", 2, "also through the four methods that only move values"),
        Aspect("rest", 1, "no unread `dequantize` is left, and all else stays"),
    ),
    cases=(
        case("a pair after a pair", "task", models.Twice, (X,), (T(4),)),
        case("values of eight bits come in", "task", models.IntegersIn, (EIGHT,)),
        case("several readers", "readers", models.ManyReaders),
        case("other scales", "scales", models.OtherScales),
        case("1 and 1.0", "scales", models.WholeNumbers),
        case("the other order", "scales", models.OneWay),
        case("a reshape between", "moves", models.Reshaped),
        case("four methods between", "moves", models.Moved, (T(2, 3, 4),)),
        case("somebody reads between", "moves", models.ReadBetween),
        case("somebody asks for a size", "moves", models.SizeBetween),
        case("no such methods", "moves", models.NotOnTheList),
        case("an index and a layer", "moves", models.OtherWays),
        case("what nobody reads", "rest", models.Unread),
        case("names of its own", "rest", models.odd_names),
        case("unread moves", "rest", models.UnreadMoves),
    ),
    fine_print={
        "Scales are the same if they are equal as numbers.": (
            "other scales",
            "1 and 1.0",
            "redraw: 1.0 and 1",
        ),
        (
            "The rules hold for chains, for values with several readers, and for a `quantize` "
            "that no node reads."
        ): ("several readers", "redraw: pairs"),
        "Nodes that no node reads stay, too.": ("what nobody reads", "unread moves"),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.with_pairs, count=16, expect=Expect(trace=itself)),
)  # fmt: skip
