"""Exercise 13b.1: put the supported calls into as few sets as possible."""

from __future__ import annotations

import operator
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
    Vocabulary,
    ops,
)
from autograder.exercises.ch13_partition.models import itself
from autograder.exercises.ch13b_lowering.partition import models

HINTS = (
    "**Where to look.** Follow a path with your finger. From which call on can a call no longer "
    "be in the same set as the first one? How often does that happen on the worst path to a "
    "node?",
    "**What to use.** `graph.nodes` gives each node after all that it reads, so one loop is "
    "enough, and a dictionary with a number for each node. `node.all_input_nodes` are the nodes "
    "that a node reads, wherever in its arguments. A call has an `op` that begins with `call_`.",
    "**A skeleton.**\n\n"
    "```python\n"
    "number = {}                      # for each node: the number of its set\n"
    "sets = {}\n"
    "for node in gm.graph.nodes:\n"
    "    ours = ...                   # a call, and supported\n"
    "    number[node] = ...           # from the numbers of its inputs:\n"
    "                                 # when is it one more?\n"
    "    if ours:\n"
    "        ...                      # the name goes into the set of this number\n"
    "return ...\n"
    "```",
)

RELU = models.Takes((torch.relu, torch.maximum))


def offered(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    supported: Any = RELU,
) -> Case:
    """A case: a model and a backend."""
    return Case(name, aspect, models.Offered(make, supported), Expect(trace=itself))


takes, takes_all_but = models.Takes, models.TakesAllBut

EXERCISE = Exercise(
    number=1,
    title="As few sets as possible",
    stars=3,
    minutes=25,
    points=6,
    kind="analysis",
    aspects=(
        Aspect("task", 3, "every supported call in one set, and no set waits for itself"),
        Aspect("between", 3, "sets that would wait for one another"),
        Aspect("few", 2, "as few sets as possible, connected or not"),
        Aspect("kinds", 2, "calls of every kind, read in any way, or not read"),
        Aspect("never", 1, "inputs, parameters and the output are in no set"),
        Aspect("long", 1, "graphs of 1,500 nodes, and of very many paths"),
    ),
    cases=(
        offered("one call between", "task", models.Around),
        offered("a long detour", "task", models.LongDetour),
        offered("two branches that cross", "between", models.Crosswise),
        offered("two branches", "few", models.Apart),
        offered(
            "a call that reads nothing",
            "few",
            models.out_of_nothing,
            takes((torch.ones, torch.maximum)),
        ),
        offered("of different depth", "few", models.ManyToOne),
        offered("keywords and lists", "kinds", models.Keywords),
        offered(
            "layers and methods",
            "kinds",
            models.Layers,
            takes(("layer", "relu", "block.0", "neg", operator.mul)),
        ),
        offered("parts of a tuple", "kinds", models.Parts, takes((torch.relu, torch.chunk))),
        offered(
            "one of several alike",
            "kinds",
            models.OneAfterAnother,
            models.TakesNodes(frozenset(("relu", "relu_2", "sin_2", "sin_3"))),
        ),
        offered(
            "the last of several inputs",
            "kinds",
            models.Third,
            takes((torch.relu, torch.cat, torch.where)),
        ),
        offered("values that nobody reads", "kinds", models.Unread),
        offered(
            "what no trace gives", "kinds", models.with_foreign_names, takes(("mul", operator.add))
        ),
        offered("a dictionary", "kinds", models.InADictionary),
        offered("nothing is supported", "never", models.Around, takes(())),
        offered(
            "inputs and parameters leave nothing",
            "never",
            models.OfParameters,
            takes_all_but((operator.sub,)),
        ),
        offered("1,500 calls in a row", "long", models.long_row),
        offered("forty detours", "long", models.ManyDetours),
    ),
    fine_print={
        "A supported call that no node reads is in a set, too.": ("values that nobody reads",),
        "`supported` may say yes to inputs, parameters and the output.": (
            "inputs and parameters leave nothing",
        ),
        "Unsupported `getitem` nodes are in no set.": ("parts of a tuple",),
        "No set is empty.": ("nothing is supported",),
    },
    hints=HINTS,
    random=RandomModels(
        Vocabulary(
            ops(
                "torch.sin({a})",
                "{a} * {b}",
                "torch.maximum({a}, {b})",
                "torch.maximum(other={a}, input={b})",
                "torch.stack([{x}, {y}, {x}])[1]",
                "{a} * [nn.Parameter(torch.ones(()))]",
                "[nn.Tanh()]([=nn.Tanh()]({a}))",
                "{a}.neg()",
                "torch.where({a} > {n}, {b}, {c})",
            )
            + ops("torch.cos({a})", outs=0)
            + COMMON,
            most=9,
        ),
        models.with_backend,
        count=20,
        expect=Expect(trace=itself),
    ),
)
