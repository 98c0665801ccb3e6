"""Exercise 13.1: the largest number of bytes alive at once."""

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
from autograder.exercises.ch13_partition.models import itself
from autograder.exercises.ch13_partition.peak_memory import models
from autograder.models.running import Exactly

X = T(2, 3)

HINTS = (
    "**Where to look.** Take `Backwards` with pencil and paper. For each node, write down the "
    "values that are alive while it runs, and then their storages instead of them. Which values "
    "does a node add to those that were alive before, and which ones are not alive after it?",
    "**What to use.** An `fx.Interpreter` with `garbage_collect_values=False` keeps all values in "
    "`env` after its run, so that an address says which storage it is. `node.users` are its "
    "readers. A value may be a tuple, a list or a dictionary of tensors.",
    "**A skeleton.**\n\n"
    "```python\n"
    "def storages(value):\n"
    "    ...                    # address and size of each storage, in containers, too\n\n"
    "interpreter = ...          # run the graph, and keep all values\n"
    "theirs = ...               # storages of placeholders, parameters and buffers\n"
    "last = ...                 # for each node: where its last reader is\n"
    "for i, node in enumerate(...):\n"
    "    alive = ...            # storages of the values of calls that are alive here\n"
    "    ...                    # is that more than ever before?\n"
    "```",
)


def run(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: Any,
) -> Case:
    """A case: a model and its inputs."""
    return Case(name, aspect, models.Run(make, inputs), Expect(trace=itself))


EXERCISE = Exercise(
    number=1,
    title="The most bytes at once",
    stars=3,
    minutes=20,
    points=5,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "the most bytes alive at a node, and the first such node"),
        Aspect("storages", 2, "storages are counted, each once, whatever views there are"),
        Aspect("theirs", 1, "inputs, parameters and buffers are not counted"),
        Aspect("nested", 1, "tuples, lists and dictionaries of tensors"),
        Aspect("unread", 1, "values that nobody reads, ties, default arguments"),
    ),
    cases=(
        run("a chain", "task", models.InARow, X),
        run("kept for the output", "task", models.Late, X),
        run("names of its own", "task", models.with_foreign_names, X),
        run("a slice that is kept", "storages", models.Small, X),
        run("views of one value", "storages", models.Views, X),
        run(
            "a view of the input",
            "theirs",
            models.OfInputs,
            X,
            {"first": Exactly(1.0, shape=(5, 4))},
        ),
        run("a view of a buffer", "theirs", models.Offsets, X),
        run("tensors that a layer holds", "theirs", models.of_a_layer, X),
        run("a sorted tensor", "nested", models.Parts, T(2, 4)),
        run("a dictionary", "nested", models.in_containers, X),
        run("a large value that nobody reads", "unread", models.Unread, X),
        run("defaults", "unread", models.Defaults, X),
    ),
    fine_print={
        "A value that no node reads is alive at its own node only.": (
            "a large value that nobody reads",
            "redraw: unread",
        ),
        "Inputs that have a default may be left out.": ("defaults",),
    },
    hints=HINTS,
    random=RandomModels(
        Vocabulary(
            ops(
                "torch.sin({a})",
                "{a} * {b}",
                "{a}.reshape(-1).repeat(6).reshape(-1)[: {a}.numel()].reshape({a}.shape)",
                "torch.stack([{x}, {y}])[1]",
                "({a} > 0).to({a}.dtype)",
                "{a} * [nn.Parameter(torch.ones(()))]",
                "[nn.Tanh()]({a})",
                "{a}.contiguous()",
                "torch.sort({a}.reshape(-1))[0].reshape({a}.shape)",
            )
            + ops("torch.stack([{x}, {y}, {x}])", outs=0)
            + COMMON,
            inputs=("", "tensor", "default"),
            dtypes=(torch.float64, torch.float32),
            most=7,
        ),
        models.on_a_graph_module,
        count=12,
        expect=Expect(trace=itself),
    ),
)
