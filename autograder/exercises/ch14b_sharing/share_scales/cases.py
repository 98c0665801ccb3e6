"""Exercise 14b.1: share a scale between pairs around calls that only move values."""

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
from autograder.exercises.ch14_quantization.models import GIVEN, GraphTrial, itself
from autograder.exercises.ch14b_sharing.share_scales import models

HINTS = (
    "**Where to look.** Which calls must have one scale? On paper, draw a dot "
    "for each `quantize`, and join two dots with a line if an operation makes them share. "
    "What hangs together gets the largest scale. Which dots does a `torch.cat` of three values "
    "join?",
    "**What to use.** `node.users` are the readers of a value: some of them may be `quantize` "
    "calls. A `dequantize` reads its `args[0]`. `users` changes while you set `args` of a "
    "reader: loop over `list(node.users)`. To find what hangs together, keep a "
    "dictionary from each dot to its group, and join groups; or give all dots of an operation the "
    "largest scale among them, again and again, until a round changes nothing.",
    "**A skeleton.**\n\n"
    "```python\n"
    "new = ...\n"
    "group = {}                           # for each quantize: the set of those that share\n"
    "for node in new.graph.nodes:\n"
    "    moved = ...                      # the values that node moves; [] for other nodes\n"
    "    results = [...]                  # the quantize calls that read node\n"
    "    if not moved or not results or ...:\n"
    "        continue\n"
    "    members = [*(... for value in moved), *results]\n"
    "    ...                              # their groups become one\n"
    "for ... in group:\n"
    "    ...                              # the largest scale, in which calls?\n"
    "new.recompile()\n"
    "```",
)

X, IMAGE = T(2, 3), T(2, 2, 4, 4)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: tuple[Any, ...],
) -> Case:
    """A case of ``share_scales(gm)``."""
    return Case(name, aspect, GraphTrial(make, inputs or ((X,),)), Expect(trace=itself))


VOCABULARY = Vocabulary(
    ops("through({a}, 0.1)", "through({x}, 0.1)")
    + ops(
        "through(torch.cat([{x}, {y}], dim=-1), 0.1).chunk(2, dim=-1)[0]",
        "through(torch.cat(tensors=({x}, {y}, {x})), 0.1).chunk(3)[0]",
        "through({x}.transpose(0, -1), 0.1).transpose(0, -1)",
        "through(torch.cat([through({x}, 0.1), through({y}, 0.1)], dim=0), 0.1).chunk(2)[1]",
        "{x} * through(through({x}, 0.1).flatten(), 0.1).mean()",
        "{x} * through(torch.flatten(through({x}, 0.1)), 0.1).mean()",
        "through(torch.stack([through({x}, 0.1), through({y}, 0.1)]), 0.1)[0]",
        "torch.cat([through({x}, 0.1), through({y}, 0.1)], dim=-1).chunk(2, dim=-1)[1]",
        "{x} * through(through(through({x}, 0.1).transpose(0, -1), 0.1).flatten(), 0.1).mean()",
        "through(torch.cat([{x}, through({y}, 0.1)], dim=0), 0.1).chunk(2)[0]",
        dims=(1, 4),
    )
    + ops("forked({x}, {y})", dims=(1, 4), outs=2)
    + ops("{x} * through(through({x}, 0.1).permute(2, 1, 0), 0.1).mean()", dims=(3, 3))
    + ops("through(F.max_pool2d({x}, 1), 0.1)", dims=(3, 4))
    + tuple(op for op in COMMON if ".reshape" not in op.text),
    shapes=((2, 3), (3,), (2, 1, 3), (1, 2, 4, 4)),
    dtypes=(torch.float32,),
    names={**GIVEN, "through": models.through, "forked": models.forked},
    dead=False,
    most=10,
)


EXERCISE = Exercise(
    number=1,
    title="One scale for what only moves",
    stars=3,
    minutes=25,
    points=5,
    kind="rewrite",
    aspects=(
        Aspect("task", 3, "the largest scale, around each operation that only moves values"),
        Aspect("calls", 1, "in each `quantize`, and in all `dequantize` calls that read it"),
        Aspect("together", 3, "one scale for what hangs together"),
        Aspect("alone", 2, "nothing else is shared"),
        Aspect("rest", 1, "only scales change"),
    ),
    cases=(
        case("joined", "task", models.Joined, (X,), (T(4, 1),)),
        case("pools", "task", models.Pooled, (IMAGE,)),
        case("each of the four methods", "task", models.EachMethod, (T(2, 3, 4),)),
        case("keywords", "task", models.Keywords),
        case("dequantized several times", "calls", models.ManyReaders),
        case("quantized twice", "calls", models.QuantizedTwice),
        case("an unread dequantize", "calls", models.UnreadDequantize),
        case("several operations in a row", "together", models.InARow, (IMAGE,)),
        case("quantized once for all three", "together", models.CommonQuantize),
        case("a comb", "together", models.Comb),
        case("a long comb", "together", models.LongComb),
        case("one input as it is", "alone", models.NotAllDequantized),
        case("nobody quantizes it", "alone", models.NotQuantized, (IMAGE,)),
        case("other operations", "alone", models.OtherOperations, (IMAGE,)),
        case("their relatives", "alone", models.Relatives, (IMAGE,)),
        case("moved twice", "alone", models.MovedTwice),
        case("names of its own", "rest", models.odd_names),
    ),
    fine_print={
        "Others may read the result of the operation, too.": ("quantized twice",),
        "The new module has the same nodes, names, order and `meta`.": (
            "names of its own",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.with_scales, count=16, expect=Expect(trace=itself)),
)  # fmt: skip
