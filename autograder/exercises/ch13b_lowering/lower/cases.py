"""Exercise 13b.2: replace each set by one compiled call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from autograder.exercises.ch13_partition.models import itself
from autograder.exercises.ch13b_lowering.lower import models
from autograder.exercises.ch13b_lowering.lower.models import Divided
from autograder.exercises.ch13b_lowering.partition.models import InADictionary

HINTS = (
    "**Where to look.** Take a graph of this section and its sets, and a sheet of paper. For each "
    "set, write down three lists: its inputs, its nodes, and the values that are read outside. "
    "Then write down an order of the boxes, in which each comes after its inputs. In which graph "
    "is this not the graph's own order?",
    "**What to use.** `Graph.placeholder`, `Graph.node_copy(node, function)`, `Graph.call_module` "
    "and `Graph.call_function(operator.getitem, (call, i))`; a dictionary from old nodes to new "
    "ones is the function. `fx.GraphModule(gm, graph)` shares with `gm` the attributes that the "
    "graph names. A loop that takes a box whose inputs are ready finds an order. If no box is "
    "ready and some are left, there is none. `hasattr` says whether a name is taken.",
    "**A skeleton.**\n\n"
    "```python\n"
    "group = {}                       # for each node: its set's number, or the node itself\n"
    "...                              # ValueError for names that are wrong\n"
    "new, values = fx.Graph(), {}     # values: old node -> new node\n"
    "while waiting:\n"
    "    ready = ...                  # a group all of whose inputs have values\n"
    "    if ready is None:\n"
    "        raise ValueError(...)\n"
    "    if ...:                      # a set\n"
    "        inside, own = fx.Graph(), {}\n"
    "        ...                      # placeholders, parameters, nodes, a tuple\n"
    "        sub = fx.GraphModule(gm, inside)\n"
    "        ...                      # compile it, call it, select the values\n"
    "    else:\n"
    "        ...                      # a copy of the node\n"
    "result = fx.GraphModule(..., new)\n"
    "```",
)

X, ROW = T(2, 3), T(3)
ONE, TWO = ((X,),), ((X, X),)


def divided(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *parts: tuple[str, ...],
    inputs: tuple[tuple[Any, ...], ...] = ONE,
    without: tuple[str, ...] = (),
    training: bool = False,
) -> Case:
    """A case: a model, and sets of its nodes."""
    build = Divided(make, parts, inputs, without, training)
    return Case(name, aspect, build, Expect(trace=itself))


CIRCLE = (
    "Treat each set as one node, and follow its inputs: is there a way back to itself? "
    "Which nodes are left, once all nodes have run that can run?"
)
NAMES = "Look at the names before you build anything: what may be in a set, and how often?"


def refused(
    name: str,
    make: Callable[[], nn.Module],
    *parts: tuple[str, ...],
    inputs: tuple[tuple[Any, ...], ...] = ONE,
    advice: str = CIRCLE,
) -> Case:
    """A case whose sets must be refused."""
    expect = Expect(
        raises="ValueError", advice=advice, still_holds=("caller untouched",), trace=itself
    )
    return Case(name, "refused", Divided(make, parts, inputs), expect)


EXERCISE = Exercise(
    number=2,
    title="One compiled call for each set",
    stars=4,
    minutes=50,
    points=9,
    kind="lowering",
    aspects=(
        Aspect("task", 3, "each set is one call of the module that `compile` returns"),
        Aspect("values", 3, "inputs and results of a set, each once, and the examples"),
        Aspect("order", 2, "an order in which each input comes before its reader"),
        Aspect("attributes", 2, "parameters and buffers are read inside; parameters are shared"),
        Aspect("rest", 2, "layers, keywords, tuples, `meta`, the signature, names that are taken"),
        Aspect("refused", 2, "sets that wait, and names that are wrong"),
    ),
    cases=(
        divided("two calls in a row", "task", models.Chain, ("sin", "cos")),
        divided("two sets", "task", models.Chain, ("exp", "sin"), ("tanh",)),
        divided("no sets", "task", models.Chain),
        divided("several values go out", "values", models.SeveralOut,
                ("sin", "add", "cos", "mul", "tanh"), inputs=TWO),
        divided("no examples", "values", models.SeveralOut, ("add", "cos", "mul"),
                inputs=TWO, without=("sin", "y")),
        divided("equal calls in one set", "values", models.Twins, ("sin", "cos", "sin_1", "cos_1")),
        divided("exactly what is returned", "values", models.AllReturned, ("sin", "cos")),
        divided("a reader in between", "order", models.Detour, ("sin", "cos")),
        divided("an input in between", "order", models.LateNeed, ("sin", "cos", "maximum"),
                inputs=TWO),
        divided("a parameter of one set", "attributes", models.OneScale, ("sin", "mul")),
        divided("read inside and outside", "attributes", models.Scales,
                ("mul", "sin", "add"), ("tanh",)),
        divided("two nodes for one parameter", "attributes", models.read_twice, ("mul_a",)),
        divided("layers", "rest", models.Layers, ("layer", "block_0"),
                ("block_2", "relu")),
        divided("keywords, lists, slices", "rest", models.Keywords, ("neg", "cat", "size"),
                ("add", "tanh"), ("stack", "sum_1")),
        divided("values that nobody reads", "rest", models.Unread, ("sin", "cos", "exp")),
        divided("defaults", "rest", models.UnequalInputs, ("sum_1", "minimum"),
                inputs=((ROW, X), (ROW, X, None, 3.0))),
        divided("names that are taken", "rest", models.Occupied, ("layer", "cos"), ("sin",)),
        divided("names that buffers have", "rest", models.OccupiedByBuffers, ("sin",), ("cos",)),
        divided("a dictionary", "rest", InADictionary, ("same", "getitem")),
        divided("in train mode", "rest", models.SharedWeights, ("mul_1", "layer"), training=True),
        refused("waits for itself", models.Chain, ("exp", "cos")),
        refused("wait for one another", models.Crossed, ("sin", "maximum"), ("cos", "minimum"),
                inputs=TWO),
        refused("three in a circle", models.Circle, ("sin", "maximum"), ("cos", "minimum"),
                ("tanh", "sub"), inputs=((X, X, X),)),
        refused("in two sets that end alike", models.Apart, ("sin", "mul"), ("cos", "mul"),
                inputs=TWO, advice=NAMES),
        refused("no such name", models.Chain, ("sin", "relu"), advice=NAMES),
        refused("an input", models.Chain, ("x", "exp"), advice=NAMES),
    ),
    fine_print={
        (
            'An example is the `meta["val"]` of the node in `gm`, in the order of the '
            "placeholders, or `None` if there is none."
        ): ("no examples", "redraw: a number that is zero"),
        "`sub` computes all nodes of the set, even those that no node reads, and no others.": (
            "values that nobody reads",
        ),
        (
            "Parameters are `gm`'s own, not copies. A `get_attr` that only sets read is gone from "
            "the result."
        ): ("a parameter of one set",),
        "The result overwrites no attribute; `forward` keeps its parameters.": (
            "defaults",
            "names that are taken",
            "names that buffers have",
        ),
        "Without sets, the result is a copy.": ("no sets",),
        "The `ValueError` comes, too, if a name is in two sets, or is not that of a call node.": (
            "in two sets that end alike",
            "no such name",
            "an input",
        ),
    },
    hints=HINTS,
    random=RandomModels(
        Vocabulary(
            ops(
                "torch.sin({a})",
                "{a} * {b}",
                "torch.maximum(other={a}, input={b})",
                "torch.stack([{x}, {y}, {x}])[1]",
                "{a} * [nn.Parameter(torch.ones(()))]",
                "[nn.Tanh()]([=nn.Tanh()]({a}))",
                "torch.where({a} > {n}, {b}, {c})",
            )
            + ops("torch.cos({a})", outs=0)
            + COMMON,
            shapes=((2, 3), (3,), (2, 1, 3)),
            most=8,
        ),
        models.with_parts,
        count=16,
        expect=Expect(trace=itself),
    ),
)  # fmt: skip
