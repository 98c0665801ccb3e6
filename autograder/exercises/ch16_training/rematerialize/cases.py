"""Exercise 16.3: compute values again in the backward pass instead of keeping them."""

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
from autograder.exercises.ch16_training.models import OnStep
from autograder.exercises.ch16_training.rematerialize import models

X = T(2, 3)

HINTS = (
    "**Where to look.** Take `Through` with pencil and paper, and name `sin` and `cos`. Which "
    "backward call is the first that cannot run without a copy of `cos`? And of `sin`? Then write "
    "down what each copy reads, and in which order the copies are made.",
    "**What to use.** First find all that must be refused: `torch.Tag.nondeterministic_seeded in "
    "node.target.tags` says that a call is random, and `argument.alias_info` of each of "
    "`node.target._schema.arguments` says what it writes. `graph.inserting_before(call)` and "
    "`graph.node_copy(node, function)` make a copy. A `val` is made by calling `node.target` with "
    "the `val`s of the copy's arguments, within `with mode:`. `graph.erase_node` refuses a node "
    "that is read.",
    "**A skeleton.**\n\n"
    "```python\n"
    "...                                 # ValueError for names that cannot be computed again\n"
    "place = {}                          # for each named call: which call needs it first?\n"
    "for reader in ...:                  # backward calls, in graph order\n"
    "    ...                             # what it reads, and what named ones of that read\n"
    "...                                 # ValueError if a write comes between\n"
    "copies = {}\n"
    "for node in ...:                    # in which order?\n"
    "    with gm.graph.inserting_before(place[node]):\n"
    "        copies[node] = ...\n"
    "...                                 # backward calls read copies\n"
    "...                                 # named calls that nobody reads\n"
    "gm.recompile()\n"
    "```",
)


def again(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *names: str,
    inputs: tuple[Any, ...] = (X,),
    kind: type = list,
    notes: bool = False,
) -> Case:
    """A case: the code of a step, and names of its calls."""
    prepare = models.with_notes if notes else None
    return Case(name, aspect, OnStep(make, inputs, (kind(names),), False, prepare))


def refused(
    name: str,
    make: Callable[[], nn.Module],
    *names: str,
    inputs: tuple[Any, ...] = (X,),
    advice: str = "Before you edit anything, look at each named call: can it run a second time?",
) -> Case:
    """A case whose names must be refused."""
    expect = Expect(raises="ValueError", advice=advice, still_holds=("caller untouched",))
    return Case(name, "refused", OnStep(make, inputs, (list(names),)), expect)


NAMES = "Before you edit anything, look at each name: is there a forward call of that name?"
WRITES = "Which calls write, into which memory, and where are they in the graph?"
STATISTICS = (X, T(3), T(3))

EXERCISE = Exercise(
    number=3,
    title="Compute it again in the backward pass",
    stars=3,
    minutes=40,
    points=9,
    kind="step_graph",
    aspects=(
        Aspect("task", 3, "one copy directly before the first backward call that needs it"),
        Aspect("chains", 2, "copies read copies of named calls, and originals of others"),
        Aspect("readers", 2, "forward calls and the output read originals; lists and keywords"),
        Aspect("erased", 1, "named calls that nobody reads are erased, and nothing else"),
        Aspect("meta", 2, "the meta of copies"),
        Aspect("refused", 3, "calls that must not run a second time are refused"),
    ),
    cases=(
        again("one call", "task", models.Late, "sin"),
        again("no names", "task", models.Unread),
        again("a step with dictionaries", "task", models.Layer, "gelu", "addmm", "t",
              inputs=({"weight": T(4, 3), "bias": T(4)}, X, T(2, 4))),
        again("a chain", "chains", models.Chain, "cos", "sin"),
        again("needed through another one first", "chains", models.Through, "sin", "cos"),
        again("a diamond", "chains", models.Diamond, "mul", "cos", "exp", "sin", kind=set),
        again("made of random numbers", "chains", models.OfNoise, "mul"),
        again("the output reads it", "readers", models.AlsoForward, "sin", "cos"),
        again("lists and keywords", "readers", models.Nested, "sin", "cat", "cos", "add"),
        again("a tuple and its parts", "readers", models.Parts, "sort", "getitem", "getitem_1"),
        again("no backward call reads it", "erased", models.Unread, "sin", "exp"),
        again("notes in the meta", "meta", models.Chain, "cos", "sin", notes=True),
        again("views", "meta", models.Views, "sin", "view", "t"),
        again("written before and afterwards", "refused", models.WrittenAround, "sin"),
        again("a norm in evaluation mode", "refused", models.norm_in_evaluation,
              "native_batch_norm", "getitem", inputs=STATISTICS),
        refused("no such name", models.Chain, "cos", "gelu", advice=NAMES),
        refused("a backward call", models.Chain, "sin", "mul", advice=NAMES),
        refused("an input", models.Chain, "x", advice=NAMES),
        refused("a part without its tuple", models.Parts, "getitem",
                advice="What does a copy of a `getitem` read?"),
        refused("random numbers", models.Random, "rand_like"),
        refused("a call that writes", models.InPlace, "add_", advice=WRITES),
        refused("a norm in training mode", models.norm_in_training,
                "native_batch_norm", "getitem", inputs=STATISTICS, advice=WRITES),
        refused("a call whose memory is written", models.InPlace, "sin", advice=WRITES),
        refused("a counter in between", models.Counter, "mul", inputs=(X, T()), advice=WRITES),
    ),
    fine_print={
        "`names` may be a list or a set, and it stays as it is.": ("a diamond",),
        "A named call that no backward call needs has no copy.": ("no backward call reads it",),
        "An evaluation-mode norm only reads its statistics.": ("a norm in evaluation mode",),
    },
    hints=HINTS,
    random=RandomModels(
        Vocabulary(
            ops(
                "torch.sin({a})",
                "{a} * {b}",
                "torch.maximum({a}, {b})",
                "{x}.reshape(-1).reshape({x}.shape)",
                "torch.stack([{x}, {y}, {x}])[1]",
                "{a} * [nn.Parameter(torch.ones(()))]",
                "torch.sort({x}.reshape(-1))[0].reshape({x}.shape)",
            )
            + ops("torch.cos({a})", outs=0)
            + COMMON,
            results=("value", "tuple"),
            inputs=("", "tensor"),
            traced=False,
            most=7,
        ),
        models.of_random_model,
        count=12,
    ),
)  # fmt: skip
