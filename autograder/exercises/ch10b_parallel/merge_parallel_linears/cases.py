"""Exercise 10b.1: merge linear layers that read the same value."""

from __future__ import annotations

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
from autograder.exercises.ch10b_parallel.merge_parallel_linears import models

X, LINE, DEEP = (T(2, 3),), (T(3),), (T(2, 4, 3),)

HINTS = (
    "**Where to look.** First collect, then rewrite: section 10b.2 groups nodes by what they "
    "read. The key of your dictionary decides what is merged.",
    "**What to use.** `collections.Counter` of the targets says which layers are called more than "
    "once. `torch.cat` of the weights along dimension 0, zeros for each missing bias, and "
    "`unsafe_split_with_sizes(sizes, dim=-1)` of the result: unlike the parts of `split`, its "
    "parts may be written into while gradients are recorded. A number that grows with each "
    "write to a value can be a part of the key.",
    "**A skeleton.**\n\n"
    "```python\n"
    "groups, writes = {}, Counter()\n"
    "for node in gm.graph.nodes:\n"
    "    ...                               # if it writes into a value: writes[value] += 1\n"
    "    if ...:                           # the only call of an nn.Linear\n"
    "        (source,) = node.all_input_nodes\n"
    "        groups.setdefault((source, writes[source]), []).append(node)\n"
    "for nodes in groups.values():\n"
    "    if len(nodes) > 1:\n"
    "        ...                           # one layer, before the first of them; its parts\n"
    "```",
)

VOCABULARY = Vocabulary(
    ops(
        "[nn.Linear(D, D)]({x}) * [nn.Linear(D, D)]({x})",
        "[nn.Linear(D, D)]({x})",
        "[nn.Linear(D, D, bias=False)](input={x})",
        "[=nn.Linear(D, D)]({x})",
        "torch.relu([nn.Linear(D, D)]({x})) - [nn.Linear(D, D)]({y})",
        "F.linear({x}, [nn.Parameter(torch.ones(D, D))])",
        "[nn.Bilinear(D, D, D)]({x}, {x})",
        "[nn.Linear(D, 2 * D)]({x}).chunk(2, dim=-1)[0] * [nn.Linear(D, D, bias=False)]({x})",
        # A write between the two calls.
        "[nn.Linear(D, D)]({x}) - {x}.mul_({n}) * [nn.Linear(D, D)]({x})",
        "[nn.Linear(D, D)]({x}) - F.relu({x}, inplace=True) * [nn.Linear(D, D)]({x})",
        "[nn.Linear(D, D)]({x}) - [nn.ReLU(inplace=True)]({x}) * [nn.Linear(D, D)]({x})",
        dims=(1, 4),
    )
    + ops("{x}.mul_({n})", "F.relu({x}, inplace=True)", outs=0)
    + tuple(
        op
        for op in COMMON
        # Conversions between values, where rounding differs; views, which may be written through.
        if not any(word in op.text for word in ("torch.where", "reshape", "chunk", "[..., :1]"))
    ),
    shapes=((2, 3), (3,), (2, 1, 3)),
    namesakes=("merged", "merged_0"),
    dead=False,
)


EXERCISE = Exercise(
    number=1,
    title="Merge linear layers that read the same value",
    stars=4,
    minutes=30,
    points=8,
    kind="transform",
    aspects=(
        Aspect("task", 3, "layers that read one value become one, whatever their widths"),
        Aspect("bias", 1, "with a bias, without, or some with and some without"),
        Aspect("places", 2, "several groups, in any order, by keyword, with names that are free"),
        Aspect("left", 2, "what is alone, reads something else, or is called twice is left"),
        Aspect("writes", 2, "nothing is merged across a write to the value"),
    ),
    cases=(
        model_case("a gate", "task", models.TwoOfAKind, X, LINE),
        model_case("attention", "task", models.Attention, X, DEEP),
        model_case("some have a bias", "bias", models.SomeBias, DEEP),
        model_case("some, in bfloat16", "bias", models.SomeBias, X, dtype=torch.bfloat16),
        model_case("one group after another", "places", models.OneBehindAnother, X),
        model_case("in different parts", "places", models.InDifferentParts, X),
        model_case("keywords", "places", models.Keywords, LINE),
        model_case("names that are taken", "places", models.NamesTaken, X),
        model_case("a weight of two", "places", models.Tied, X),
        model_case("names of others", "places", models.NamesOfOthers, X),
        model_case("other values", "left", models.OtherValues, (T(2, 3), T(2, 3))),
        model_case("called twice for one value", "left", models.SameTwice, X),
        model_case("a write between them", "writes", models.WrittenBetween, X),
        model_case("two on both sides", "writes", models.BothSides, X),
        model_case("a write by keyword", "writes", models.WrittenByKeyword, X),
        model_case("another value is written into it", "writes", models.WrittenFromAnother, X),
        model_case("it is written into another value", "writes", models.AddedToAnother, X),
        model_case("a method that only reads", "writes", models.ReadBetween, DEEP),
    ),
    fine_print={
        "Layers may be nested, and called by keyword.": ("in different parts", "keywords"),
        "A new layer needs a name that is free.": ("names that are taken",),
        "Layers and functions with `inplace=True`, such as `nn.ReLU` and `F.relu`, write, too.": (
            "redraw: dropout writes",
            "two on both sides",
            "a write by keyword",
            "redraw: written by keyword",
            "redraw: none writes",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY),
)
