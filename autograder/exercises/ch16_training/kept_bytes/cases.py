"""Exercise 16.2: the memory that a step keeps for its backward pass."""

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
from autograder.exercises.ch16_training.kept_bytes import models
from autograder.exercises.ch16_training.models import OnStep, itself

X = T(2, 3)

HINTS = (
    "**Where to look.** Take `Views` with pencil and paper: a value, and two views of it. Write "
    "down for each node which memory it has, and who had this memory first. Then go through the "
    "marked calls, and underline the memory of everything that they read.",
    "**What to use.** `memory_of(val)` is a number for the memory of a fake tensor, the same for "
    "all its views. `val.untyped_storage().nbytes()` is its size in bytes. `node.all_input_nodes` "
    "are the nodes that a call reads, wherever in its arguments. "
    '`node.meta.get("custom", {}).get("phase")` is the mark.',
    "**A skeleton.**\n\n"
    "```python\n"
    "first = {}                       # for each memory: the first node that has it\n"
    "for node in gm.graph.nodes:\n"
    "    val = node.meta.get('val')\n"
    "    if isinstance(val, torch.Tensor):\n"
    "        ...\n"
    "read = set()                     # each memory that a backward call reads\n"
    "...\n"
    "return {... for memory, node in first.items() if ...}\n"
    "```",
)


def step(name: str, aspect: str, make: Callable[[], nn.Module], *inputs: Any) -> Case:
    """A case: the code of a step."""
    return Case(name, aspect, OnStep(make, inputs or (X,)), Expect(trace=itself))


EXERCISE = Exercise(
    number=2,
    title="What the backward pass keeps",
    stars=2,
    minutes=20,
    points=5,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "what forward calls make and backward calls read"),
        Aspect("memory", 2, "memory is counted, whole and once, whatever views there are"),
        Aspect("theirs", 1, "inputs and attributes do not count"),
        Aspect("first", 1, "the first node that has it; parts of tuples"),
        Aspect("bytes", 1, "bytes, whatever the dtype"),
    ),
    cases=(
        step("a chain", "task", models.Chain),
        step("a layer", "task", models.Layer),
        step("made in the backward pass", "task", models.MadeLater),
        step("read by the output", "task", models.OnlyTheOutput),
        step("lists and keywords", "task", models.Nested),
        step("slices and expanded values", "memory", models.Sliced),
        step("padded rows", "memory", models.Padded),
        step("two views", "memory", models.Views),
        step("a reshape that copies", "memory", models.Reshaped),
        step("a view made later", "memory", models.LaterView),
        step("views of inputs", "theirs", models.OfInputs),
        step("an input changed in place", "theirs", models.InputInPlace),
        step("only inputs", "theirs", models.OnlyInputs),
        step("in place", "first", models.InPlace),
        step("parts of tuples", "first", models.Parts),
        step("halves, doubles and masks", "bytes", models.Kinds),
        step("an empty value", "bytes", models.Empty),
    ),
    fine_print={
        "Memory without bytes does not count.": ("an empty value",),
        "A tuple has no memory of its own. Its parts do, under the name of their `getitem`.": (
            "parts of tuples",
        ),
    },
    hints=HINTS,
    random=RandomModels(
        Vocabulary(
            ops(
                "torch.sin({a})",
                "{a} * {b}",
                "{x}.reshape(-1).reshape({x}.shape)",
                "torch.stack([{x}, {y}, {x}])[1]",
                "{a}.relu_()",
                "({a} > 0).to({a}.dtype)",
                "{a}.half().to({a}.dtype)",
                "{a} * [nn.Parameter(torch.ones(()))]",
                "{x}.expand_as(torch.stack([{x}, {y}]))[0]",
                "torch.sort({x}.reshape(-1))[0].reshape({x}.shape)",
            )
            + ops("{x}.transpose(0, -1).contiguous().transpose(0, -1)", dims=(1, 4))
            + COMMON,
            results=("value", "tuple"),
            inputs=("", "tensor"),
            traced=False,
            most=7,
        ),
        models.of_random_model,
        count=12,
        expect=Expect(trace=itself),
    ),
)
