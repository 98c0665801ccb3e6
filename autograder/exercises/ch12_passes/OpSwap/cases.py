"""Exercise 12.1: a pass that replaces functions, and reports whether it did."""

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
    RandomModels,
    Vocabulary,
    ops,
)
from autograder.exercises.ch12_passes.OpSwap import models

HINTS = (
    "**Where to look.** Which nodes have a function as their target? When is a target *another* "
    "one: is it enough that the table has an entry for it?",
    "**What to use.** `PassBase.__call__` calls your `call(graph_module)`, and gives back what "
    "that returns. `node.target = ...` is the whole edit; the node stays the same object. A "
    "dictionary has `get`, with what it gives where there is no entry.",
    "**A skeleton.**\n\n"
    "```python\n"
    "class OpSwap(PassBase):\n"
    "    def __init__(self, table):\n"
    "        ...\n"
    "\n"
    "    def call(self, graph_module):\n"
    "        modified = ...                # of this call\n"
    "        for node in graph_module.graph.nodes:\n"
    "            if ...:                   # it calls a function\n"
    "                new = ...\n"
    "                if new is not node.target:\n"
    "                    ...\n"
    "        ...                           # the code\n"
    "        return PassResult(..., ...)\n"
    "```",
)

SIN_COS = ((torch.sin, torch.cos), (torch.cos, torch.sin))
CHAIN = ((torch.sin, torch.cos), (torch.cos, torch.tanh))


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *pairs: models.Pair,
    how: Any = models.Once,
) -> Case:
    """A case: a model, and the table of functions to replace."""
    return Case(name, aspect, models.Swapping(make, pairs, how))


EXERCISE = Exercise(
    number=1,
    title="Exchange functions, and say so",
    stars=2,
    minutes=12,
    points=5,
    kind="compiler_backend",
    aspects=(
        Aspect("task", 2, "every call of a function of the table calls the other one"),
        Aspect("at once", 1, "all entries act at once"),
        Aspect("honest", 2, "`modified` says whether a target is another one now, for each call"),
        Aspect("others", 1, "methods, modules and functions that share a name are left alone"),
    ),
    cases=(
        case("one entry", "task", models.Waves, (torch.sin, torch.tanh)),
        case("operators", "task", models.Operators, (operator.add, operator.sub),
             (operator.mul, torch.mul)),
        case("a function of its own", "task", models.Alike, (models.relu, torch.sigmoid),
             (torch.relu, models.relu)),
        case("a manager runs it", "task", models.Waves, (torch.cos, torch.exp),
             how=models.Managed),
        case("sin and cos exchanged", "at once", models.Waves, *SIN_COS),
        case("sin, cos, tanh", "at once", models.ManyWaves, *CHAIN),
        case("nothing to do", "honest", models.Waves, (torch.tanh, torch.exp)),
        case("the same again", "honest", models.Waves, (torch.sin, torch.sin)),
        case("one the same, one not", "honest", models.Waves, (torch.cos, torch.cos),
             (torch.sin, torch.exp)),
        case("three calls", "honest", models.Waves, (torch.sin, torch.tanh), how=models.Again),
        case("one for its twin", "honest", models.Squared, ("squared", "cubed")),
        case("many with one name", "others", models.Alike, (torch.relu, torch.abs)),
    ),
    fine_print={
        "An entry from a function to itself changes nothing.": (
            "the same again",
            "one the same, one not",
        ),
        (
            "Methods and modules are left alone, and so are functions that only share a name with "
            "a key."
        ): (
            "many with one name",
            "redraw: another relu",
            "redraw: one around another",
        ),
        "It works in a `PassManager`, too.": ("a manager runs it",),
    },
    hints=HINTS,
    random=RandomModels(
        Vocabulary(
            ops(
                "torch.sin({a})",
                "torch.cos(input={a})",
                "torch.tanh({a})",
                "torch.abs({a})",
                "torch.relu({a})",
                "torch.exp(torch.tanh({a}))",
                "{a}.relu()",
                "[nn.ReLU()]({a})",
            )
            + COMMON,
            shapes=((2, 3), (3,)),
            most=6,
        ),
        models.with_table,
        count=12,
    ),
)  # fmt: skip
