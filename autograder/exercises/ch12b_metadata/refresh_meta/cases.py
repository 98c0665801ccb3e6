"""Exercise 12b.1: record each value's metadata again without computing values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    Op,
    RandomModels,
    T,
    Vocabulary,
    ops,
)
from autograder.exercises.ch12b_metadata.refresh_meta import models

X, LONG = T(2, 3), T(4, 2, 3)

HINTS = (
    "**Where to look.** A run of the graph on fake tensors gives everything. Three kinds of "
    "tensors are real at first: the inputs, what a `get_attr` node fetches, and what a layer uses "
    "when it is called. And ask of each value that you note: who holds the same object?",
    "**What to use.** An Interpreter runs the graph; its `get_attr`, `call_module` and `run_node` "
    "can be overridden. `mode.from_tensor` makes a fake tensor of a real one, and gives the same "
    "one if it is asked twice. `torch.func.functional_call(module, tensors, args, kwargs)` calls a "
    "layer with other parameters and buffers. `detach()` gives another tensor with the same "
    "strides. `pytree.tree_map_only` reaches into nested values.",
    "**A skeleton.**\n\n"
    "```python\n"
    "mode = FakeTensorMode()\n\n"
    "def fake(value): ...                  # each tensor in it, as a fake one\n\n"
    "class OnFakes(fx.Interpreter):\n"
    "    def get_attr(self, target, args, kwargs):\n"
    "        return fake(...)\n\n"
    "    def call_module(self, target, args, kwargs):\n"
    "        module = self.fetch_attr(target)\n"
    "        ...                           # call it with fake parameters and buffers\n\n"
    "    def run_node(self, n):\n"
    "        value = super().run_node(n)\n"
    "        n.meta['val'] = ...           # of each tensor in it, another object\n"
    "        return value\n\n"
    "with mode:\n"
    "    OnFakes(gm).run(...)\n"
    "```",
)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: Any,
    training: bool = False,
    prepare: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None,
    worn: bool = False,
    times: int = 1,
) -> Case:
    """A case with one model and its inputs."""
    build = models.Refreshing(make, inputs, training, prepare, worn, times)
    return Case(name, aspect, build)


LENGTHENED = "({a} + 0).unsqueeze_(0).squeeze_(0)"

VOCABULARY = Vocabulary(
    ops(
        "{x}.expand_as(torch.stack([{x}, {x}, {x}]))[0]",
        LENGTHENED,
        "{y} * {x}.dim()",
        "{y}.to({x}.dtype)",
        "{a} + torch.rand_like({x})",
        "F.dropout({a}, 0.5, True)",
        "[nn.Dropout(0.3)]({a})",
        "{a}.half().to({a}.dtype)",
        "{y} * {x}.sum().expand(2_000_000, 4_000_000).neg()[0, 0]",
        "[nn.Parameter(torch.ones(()))] * {a}",
        "({a} > 0) * {b}",
    )
    + ops(
        "{y} * {x}.shape[0]",
        "torch.sort({x}, -1)[0]",
        "{x}.transpose(0, -1).transpose(0, -1)",
        "[nn.LayerNorm(D)]({x})",
        dims=(1, 4),
    )
    + (Op("[nn.BatchNorm1d(D)]({x})", (2, 2)),)
    + COMMON,
    inputs=("", "tensor", "row", "default"),
    training=True,
    most=7,
)

EXERCISE = Exercise(
    number=1,
    title="What each value is, without computing it",
    stars=2,
    minutes=25,
    points=7,
    kind="compiler_backend",
    aspects=(
        Aspect("task", 2, "every node has its value, with fake tensors of one mode"),
        Aspect("module", 1, "parameters and buffers are fake, too"),
        Aspect("values", 2, "numbers, `None` and nested values are as they are"),
        Aspect("then", 2, "a value is noted as it was when it was computed, strides included"),
        Aspect("nothing", 2, "nothing is computed for real, and nothing changes"),
        Aspect("stays", 1, "old values are replaced, and other entries of `meta` stay"),
    ),
    cases=(
        case("a layer and functions", "task", models.Layers, X),
        case("several dtypes", "task", models.Kinds, X),
        case("parameters and buffers", "module", models.Attributes, X),
        case("numbers", "values", models.Numbers, X),
        case("defaults", "values", models.Defaults, X),
        case("several values", "values", models.Nested, LONG),
        case("a dictionary", "values", models.in_containers, X),
        case("a nested input", "values", models.TakesApart, X, X, X,
             prepare=models.in_a_dictionary),
        case("views", "then", models.Strides, X),
        case("unsqueeze_ later", "then", models.Lengthened, X),
        case("buffers in place", "then", models.buffers_in_place, X),
        case("terabytes", "nothing", models.Terabytes, X),
        case("a large value made of nothing", "nothing", models.made_of_nothing, X),
        case("a block that trains", "nothing", models.a_block_as_one_layer, X, training=True),
        case("a graph that was edited", "stays", models.Layers, X, worn=True),
    ),
    fine_print={
        "Values that are not tensors are noted as they are: numbers, `None`, a dtype.": (
            "numbers",
        ),
        (
            "Tuples, lists and dictionaries keep their type; only a `torch.Size` may become a "
            "tuple or a list."
        ): ("a dictionary",),
        "A `val` that was there before is replaced. All other entries of `meta` stay.": (
            "a graph that was edited",
        ),
        "Inputs may be nested, too.": ("a nested input",),
        "Intermediate values may have terabytes.": (
            "terabytes",
            "a large value made of nothing",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.of_random_model, count=12),
)  # fmt: skip
