"""Exercise 13.2: compute values again instead of keeping them."""

from __future__ import annotations

from collections.abc import Callable

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
from autograder.exercises.ch13_partition.models import Given, itself
from autograder.exercises.ch13_partition.recompute import models

X = T(2, 3)

HINTS = (
    "**Where to look.** Do it with pencil and paper for `a`, `b = cos(a)` and two readers of `b`, "
    "first with `b` named, then with both. Which nodes read `a` afterwards? A copy is a reader, so "
    "the order in which you copy the named nodes matters: which of two nodes must have all of "
    "its copies before you know the readers of the other?",
    "**What to use.** `copy.deepcopy(gm)` gives nodes with the same names and `meta` that you may "
    "edit. `graph.inserting_before(reader)` and `graph.node_copy(node)` make a copy; "
    "`reader.replace_input_with(node, copy)` changes every place in which the reader reads it. "
    "`node.users` is a dictionary, and its order is that in which readers were added.",
    "**A skeleton.**\n\n"
    "```python\n"
    "new = ...                                 # a graph module of your own\n"
    "...                                       # ValueError for a name that is not a call node's\n"
    "for node in ...:                          # the named ones; in which order?\n"
    "    readers = [n for n in new.graph.nodes if ...]\n"
    "    for reader in readers[1:]:\n"
    "        with new.graph.inserting_before(...):\n"
    "            again = ...\n"
    "        ...                               # the reader reads the copy\n"
    "...                                       # the code\n"
    "return new\n"
    "```",
)


def named(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *names: str,
) -> Case:
    """A case: a model, and the nodes whose values are not kept."""
    return Case(name, aspect, Given(make, (names,), ((X,),)), Expect(trace=itself))


def refused(name: str, make: Callable[[], nn.Module], bad: str, *names: str) -> Case:
    """A case in which one name is not the name of a call node."""
    expect = Expect(
        raises="ValueError",
        advice="Look at each of the names before you edit anything: is there a call node of it?",
        names=bad,
        still_holds=("caller untouched",),
        trace=itself,
    )
    return Case(name, "refused", Given(make, ((*names, bad),), ((X,),)), expect)


EXERCISE = Exercise(
    number=2,
    title="Compute it again instead of keeping it",
    stars=3,
    minutes=20,
    points=6,
    kind="transform",
    aspects=(
        Aspect("task", 3, "the first reader reads the original, each later one a copy of its own"),
        Aspect("chains", 3, "copies are readers, too: chains are computed again as a whole"),
        Aspect("readers", 2, "readers of every kind: keywords, lists, the output, in graph order"),
        Aspect("rest", 1, "modules, tuples, values that nobody reads, and the signature"),
        Aspect("refused", 1, "a name that is not that of a call node is refused"),
    ),
    cases=(
        named("three readers", "task", models.Keywords, "sin"),
        named("a value that another one is made of", "chains", models.Readers, "cos", "sin"),
        named("a link that reads a copy", "chains", models.LateLink, "cos", "sin"),
        named("a reader of both", "chains", models.BothOf, "sin", "cos"),
        named("readers that read it twice", "readers", models.Twice, "sin"),
        named("keywords, lists, slices", "readers", models.Keywords, "size", "sin", "cat"),
        named("the output", "readers", models.OutputReads, "sin"),
        named("second reader of one, first of another", "readers", models.SideBySide, "exp", "sin"),
        named("the first reader was added last", "readers", models.inserted, "sin"),
        named("a layer is the second reader", "readers", models.LayerReads, "sin"),
        named("layers", "rest", models.Layers, "layer", "mul", "block_1"),
        named("values that nobody reads", "rest", models.Unread, "cos", "tanh", "exp"),
        refused("no such name", models.Readers, "gelu", "sin"),
        refused("the output node", models.Readers, "output"),
    ),
    fine_print={
        "A reader that reads a value twice is one reader.": ("readers that read it twice",),
        (
            "A copy reads what the original reads in `gm`. If that is a named node, too, the copy "
            "is one of its later readers, and reads a copy of its own."
        ): ("a link that reads a copy",),
        "All originals stay in their order, even if no node reads them.": (
            "values that nobody reads",
        ),
        "The message of the `ValueError` contains the name.": ("no such name",),
    },
    hints=HINTS,
    random=RandomModels(
        Vocabulary(
            ops(
                "torch.sin({a})",
                "torch.exp({a}.sigmoid())",
                "{a} * {b}",
                "torch.maximum({a}, other={b})",
                "torch.stack([{x}, {y}, {x}])[1]",
                "{a} * [nn.Parameter(torch.ones(()))]",
                "[nn.Tanh()]([=nn.Tanh()]({a}))",
            )
            + ops("torch.cos({a})", outs=0)
            + COMMON,
            shapes=((2, 3), (3,), (2, 1, 3)),
            most=6,
        ),
        models.with_names,
        count=12,
        expect=Expect(trace=itself),
    ),
)  # fmt: skip
