"""Exercise 12b.2: find nodes whose metadata contradicts their inputs' metadata."""

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
from autograder.exercises.ch12b_metadata.meta_lies import models
from autograder.exercises.ch12b_metadata.meta_lies.models import (
    Dtype,
    Edit,
    Number,
    Part,
    Shape,
    Size,
    as_a_list,
    elsewhere,
    no_val,
    one_less,
    turned,
)

X, BOTH, TALL, LONG = T(2, 3), (T(2, 3), T(2, 3)), T(4, 3), T(4, 6)
SQUARES = (T(4, 4), T(4, 4))
DOUBLE, HALF, INT = Dtype(torch.float64), Dtype(torch.float16), Dtype(torch.int64)

HINTS = (
    "**Where to look.** What does a node need to be judged? Its own `val`, what it calls, and the "
    "`val`s of what it reads. Nothing is handed on from one node to the next.",
    "**What to use.** `fx.map_arg` replaces each node among arguments. The "
    "mode of a fake tensor is its `fake_mode`, and that has a `shape_env`, in which "
    "`suppress_guards()` keeps operators from noting anything. `statically_known_true(a == b)` "
    "compares sizes. `pytree.tree_leaves` gives what is in nested values; `gm.get_parameter` and "
    "`gm.get_buffer` take a path, and so does `operator.attrgetter`.",
    "**A skeleton.**\n\n"
    "```python\n"
    "lies = []\n"
    "for node in gm.graph.nodes:\n"
    "    if ...:                           # never listed\n"
    "        continue\n"
    "    if ...:                           # without a val\n"
    "        ...\n"
    "    elif ...:                         # reads one without a val\n"
    "        continue\n"
    "    try:\n"
    "        found = ...                   # the attribute, or what the call gives\n"
    "    except Exception:\n"
    "        ...\n"
    "    if not same(found, node.meta['val']):\n"
    "        lies.append(node.name)\n"
    "return lies\n"
    "```",
)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    inputs: T | tuple[T, ...],
    symbolic: tuple[tuple[int, ...], ...] = (),
    **edits: Edit,
) -> Case:
    """A case with the graph of one class, in which some nodes are edited."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    build = models.Graphs(make, given, tuple(edits.items()), symbolic)
    return Case(name, aspect, build)


def recorded(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *shapes: T,
    **edits: Edit,
) -> Case:
    """A case with the graph that `make_fx` records of a model."""
    return Case(name, aspect, models.Recorded(make, shapes, tuple(edits.items())))


ROWS, SYMBOLS, TWO = ((0,),), ((0, 1), (0,)), ((0,), (0,))

VOCABULARY = Vocabulary(
    ops(
        "{a}.relu()",
        "{a} + 1",
        "{a}.to(torch.float16).to({a}.dtype)",
        "({a} > 0) * {b}",
        "{a} - {a}.sum()",
        "{x}.unsqueeze(0).expand(3, *{x}.shape)[1]",
        "torch.sort({x}.reshape(-1))[0].reshape({x}.shape)",
    )
    + ops("{x}.transpose(0, -1).softmax(-1).transpose(0, -1)", dims=(1, 4))
    + COMMON,
    # For a layer and a single row, `make_fx` records an in-place call.
    shapes=((2, 3), (1, 3), (2, 1, 3), (1, 2, 4, 4)),
    dtypes=(torch.float32, torch.float64),
    traced=False,
    most=6,
)

EXERCISE = Exercise(
    number=2,
    title="Nodes that contradict their inputs",
    stars=2,
    minutes=25,
    points=7,
    kind="compiler_backend",
    aspects=(
        Aspect("task", 2, "a node whose shape or dtype is not what its inputs lead to"),
        Aspect("local", 2, "each node is judged by what its inputs say, right or wrong"),
        Aspect("several", 1, "operators with several results, and `getitem`"),
        Aspect("attributes", 1, "`get_attr` is compared with the attribute"),
        Aspect("missing", 1, "nodes without a `val`, and those that read one"),
        Aspect("others", 1, "strides, devices and values that are not tensors are not compared"),
        Aspect("symbols", 2, "symbolic sizes: only what is known, and no guard"),
    ),
    cases=(
        case("the shape of the last", "task", models.Chain, X, tanh=Shape(3, 2)),
        case("the dtype of the last", "task", models.Chain, X, tanh=DOUBLE),
        case("nobody reads it", "task", models.Sums, BOTH, sin=DOUBLE),
        case("in the middle of a chain", "local", models.Chain, X, relu=Shape(3, 2)),
        case("a false input", "local", models.Chain, X, x=Shape(7, 5)),
        case("a false input, and all agree", "local", models.Chain, X, x=HALF, neg=HALF,
             relu=HALF, tanh=HALF),
        case("cannot run", "local", models.Sums, BOTH, exp=Shape(5, 4)),
        case("several results", "several", models.Several, LONG, max_1=Part(0, HALF),
             split=Part(2, Shape(4, 1))),
        case("one result less", "several", models.Several, LONG, split=one_less),
        case("a false bias", "attributes", models.Products, X, layer_bias=Shape(3)),
        case("a weight without val", "missing", models.Products, X, layer_weight=no_val),
        case("a call without val", "missing", models.Sums, BOTH, exp=no_val),
        case("an input without val", "missing", models.Sums, BOTH, y=no_val, mul=DOUBLE),
        case("strides", "others", models.Chain, X, relu=turned),
        case("another device", "others", models.Sums, BOTH, sin=elsewhere),
        case("numbers", "others", models.Sizes, TALL, sym_size=Number(9)),
        case("a list for a tuple", "others", models.Several, LONG, max_1=as_a_list,
             split=as_a_list),
        case("a list by keyword", "others", models.ListByKeyword, X),
        case("symbols that are true", "symbols", models.Symbols, SQUARES, symbolic=SYMBOLS),
        case("a number for a symbol", "symbols", models.Symbols, SQUARES, symbolic=SYMBOLS,
             sin=Shape(4, Size("x", 1)), cat=Shape(8, 4)),
        case("sums of two symbols", "symbols", models.TwoRows, (TALL, T(5, 3)), symbolic=TWO,
             relu=Shape(Size("y", 0), 3)),
        case("made of a symbol", "symbols", models.MadeOfASize, TALL, symbolic=ROWS),
    ),
    fine_print={
        "A `get_attr` is compared with the attribute.": (
            "a false bias",
        ),
        (
            "A call or a `get_attr` **without** `val` is listed. A call that *reads* a node "
            "without `val` cannot be judged, and is not listed."
        ): (
            "a weight without val",
            "a call without val",
        ),
        "Placeholders and the output are never listed.": ("an input without val",),
        "Strides, devices, and values that are not tensors are not compared.": (
            "strides",
            "another device",
            "numbers",
        ),
        "It does not matter whether several results are in a list or in a tuple.": (
            "a list for a tuple",
        ),
        "No guard is added by an operator that you run, either.": (
            "sums of two symbols",
            "redraw: parts of a symbol",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.of_random_model, count=12),
)  # fmt: skip
